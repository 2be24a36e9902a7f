import { mkdir } from 'node:fs/promises';
import { DomainError, formatBytes } from '@headgate/domain-contracts';
import type { CallOptions, Virsh } from '../virsh/virsh.js';

export interface PoolState {
  readonly isActive: boolean;
  readonly availableBytes: number;
  /** The size of the file system; 0 when it is unknown. */
  readonly capacityBytes: number;
}

/** Uploading a disk of many gigabytes takes long. */
const COPY_TIMEOUT_MS = 6 * 60 * 60_000;

/** The directory pool for the service's volumes. Names of volumes that the service created contain part of their domain's UUID. */
export class StoragePool {
  constructor(
    private readonly virsh: Virsh,
    readonly name: string,
    /** Location of the pool if it has to be created. */
    private readonly defaultPath: string,
  ) {}

  /** @returns undefined when the pool does not exist */
  async state(): Promise<PoolState | undefined> {
    try {
      const info = await this.virsh.run(['pool-info', this.name, '--bytes']);
      return {
        isActive: /^State:\s+running$/m.test(info),
        capacityBytes: Number(/^Capacity:\s+(\d+)$/m.exec(info)?.[1] ?? 0),
        availableBytes: Number(/^Available:\s+(\d+)$/m.exec(info)?.[1] ?? 0),
      };
    } catch (error) {
      if (DomainError.is(error, 'VOLUME_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  /** Creates or starts the pool if necessary. */
  async ensure(): Promise<void> {
    const state = await this.state();
    if (state?.isActive) return;
    if (!state) {
      // The parent may be a private folder of this user, which libvirt must be able to traverse.
      await mkdir(this.defaultPath, { recursive: true, mode: 0o711 }).catch(() => undefined);
      await this.ignoring('ALREADY_EXISTS', ['pool-define-as', this.name, 'dir', '--target', this.defaultPath]);
      await this.virsh.run(['pool-autostart', this.name]);
    }
    await this.virsh.run(['pool-build', this.name]);
    await this.virsh.run(['pool-start', this.name]).catch(async (error: unknown) => {
      // Another client may have started it meanwhile.
      if (!(await this.state())?.isActive) throw error;
    });
  }

  async path(): Promise<string> {
    const xml = await this.virsh.run(['pool-dumpxml', this.name]);
    return /<path>([^<]+)<\/path>/.exec(xml)?.[1] ?? this.defaultPath;
  }

  /** Creates a blank, thinly provisioned disk. */
  async createBlank(volume: string, bytes: number): Promise<void> {
    await this.virsh.run(['vol-create-as', this.name, volume, String(bytes), '--format', 'qcow2']);
  }

  /**
   * Checks that a file fits into the pool and leaves space for the other volumes to grow.
   * @throws DomainError INSUFFICIENT_STORAGE
   */
  async checkSpace(bytes: number, watermarkBytes: number): Promise<void> {
    const state = await this.state();
    if (!state?.isActive || state.availableBytes - bytes >= watermarkBytes) return;
    throw new DomainError(
      'INSUFFICIENT_STORAGE',
      `The storage pool ${this.name} has ${formatBytes(state.availableBytes)} free, not enough for ${formatBytes(bytes)}: free some space on this machine.`,
    );
  }

  /** Creates a volume with the content of a file. libvirt detects its format from the content. */
  async createFrom(volume: string, file: string, { signal }: CallOptions = {}): Promise<void> {
    await this.virsh.run(['vol-create-as', this.name, volume, '0', '--format', 'raw'], { signal });
    await this.virsh.run(['vol-upload', volume, file, '--pool', this.name], {
      signal,
      timeoutMs: COPY_TIMEOUT_MS,
      isTransfer: true,
    });
  }

  /** Removes a volume; a missing volume is not an error. */
  async remove(volume: string): Promise<void> {
    await this.ignoring('VOLUME_NOT_FOUND', ['vol-delete', volume, '--pool', this.name]);
  }

  /** Names of the volumes after refreshing the pool from its folder. */
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

/** Parses `vol-list`, whose columns are name and path. */
export const volumeNames = (table: string): string[] =>
  table
    .split('\n')
    .map((line) => /^\s*(.*?)\s{2,}\/.*$/.exec(line)?.[1] ?? '')
    .filter((name) => name !== '');

/** Next to the images of libvirt's default pool, or in a private folder for a session daemon, which can't write there. */
export const defaultPoolPath = (uri: string, privateFolder: string): string =>
  /\/session(?:\?|$)/.test(uri) ? `${privateFolder}/images` : '/var/lib/libvirt/images/headgate';
