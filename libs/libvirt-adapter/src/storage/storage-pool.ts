import { mkdir } from 'node:fs/promises';
import { DomainError } from '@headgate/domain-contracts';
import type { CallOptions, Virsh } from '../virsh/virsh.js';

export interface PoolState {
  readonly isActive: boolean;
  readonly availableBytes: number;
}

/** Copying a disk of many gigabytes into the pool takes long. */
const COPY_TIMEOUT_MS = 6 * 60 * 60_000;

/** The folder of disks that libvirt manages for this service. Everything in it that the service made is named after one domain's UUID. */
export class StoragePool {
  constructor(
    private readonly virsh: Virsh,
    readonly name: string,
    /** Where it is made when there is none. */
    private readonly defaultPath: string,
  ) {}

  /** @returns undefined when there is none yet */
  async state(): Promise<PoolState | undefined> {
    try {
      const info = await this.virsh.run(['pool-info', this.name, '--bytes']);
      return {
        isActive: /^State:\s+running$/m.test(info),
        availableBytes: Number(/^Available:\s+(\d+)$/m.exec(info)?.[1] ?? 0),
      };
    } catch (error) {
      if (DomainError.is(error, 'VOLUME_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  /** Makes it, or starts it, when it is not there. */
  async ensure(): Promise<void> {
    const state = await this.state();
    if (state?.isActive) return;
    if (!state) {
      // A private folder above it belongs to this user, not to libvirt.
      await mkdir(this.defaultPath, { recursive: true, mode: 0o711 }).catch(() => undefined);
      await this.ignoring('ALREADY_EXISTS', ['pool-define-as', this.name, 'dir', '--target', this.defaultPath]);
      await this.virsh.run(['pool-autostart', this.name]);
    }
    await this.virsh.run(['pool-build', this.name]);
    await this.virsh.run(['pool-start', this.name]).catch(async (error: unknown) => {
      // Somebody else was quicker.
      if (!(await this.state())?.isActive) throw error;
    });
  }

  async path(): Promise<string> {
    const xml = await this.virsh.run(['pool-dumpxml', this.name]);
    return /<path>([^<]+)<\/path>/.exec(xml)?.[1] ?? this.defaultPath;
  }

  /** An empty disk that takes space as it is written to. */
  async createBlank(volume: string, bytes: number): Promise<void> {
    await this.virsh.run(['vol-create-as', this.name, volume, String(bytes), '--format', 'qcow2']);
  }

  /** A volume with the content of a file; its format is read from that content. */
  async createFrom(volume: string, file: string, { signal }: CallOptions = {}): Promise<void> {
    await this.virsh.run(['vol-create-as', this.name, volume, '0', '--format', 'raw'], { signal });
    await this.virsh.run(['vol-upload', volume, file, '--pool', this.name], { signal, timeoutMs: COPY_TIMEOUT_MS });
  }

  /** Gone already is as good as removed. */
  async remove(volume: string): Promise<void> {
    await this.ignoring('VOLUME_NOT_FOUND', ['vol-delete', volume, '--pool', this.name]);
  }

  /** Volumes by name, after a look at what is really in the folder. */
  async volumes(): Promise<string[]> {
    await this.virsh.run(['pool-refresh', this.name]);
    return volumeNames(await this.virsh.run(['vol-list', this.name]));
  }

  private async ignoring(code: 'ALREADY_EXISTS' | 'VOLUME_NOT_FOUND', args: readonly string[]): Promise<void> {
    try {
      await this.virsh.run(args);
    } catch (error) {
      if (!DomainError.is(error, code)) throw error;
    }
  }
}

/** First column of `vol-list`; the second is the path, which ends the line. */
export const volumeNames = (table: string): string[] =>
  table
    .split('\n')
    .map((line) => /^\s*(.*?)\s{2,}\/.*$/.exec(line)?.[1] ?? '')
    .filter((name) => name !== '');

/** Beside the images of libvirt's own default pool; a session's daemon belongs to one user and can't write there. */
export const defaultPoolPath = (uri: string, privateFolder: string): string =>
  /\/session(?:\?|$)/.test(uri) ? `${privateFolder}/images` : '/var/lib/libvirt/images/headgate';
