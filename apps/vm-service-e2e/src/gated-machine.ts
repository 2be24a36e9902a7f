import { createHash } from 'node:crypto';
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LibvirtGate, PrivateLibvirtd } from '@headgate/testing';

/** The user of the private libvirts. */
const QEMU_USER = 65534;
/** The storage pools of each machine: of the service, and another one. */
export const POOL = 'headgate';
export const FAST_POOL = 'fast';

const LOG_CHARACTERS = 500;
const STATUSES: Readonly<Record<string, string>> = { running: 'Running', 'shut off': 'Stopped', paused: 'Paused' };

/** A private libvirt, which the service reaches through a gate. */
export class GatedMachine {
  private constructor(
    readonly libvirt: PrivateLibvirtd,
    readonly gate: LibvirtGate,
    private readonly fastFolder: string,
  ) {}

  static async open(name: string): Promise<GatedMachine> {
    const libvirt = await PrivateLibvirtd.create(name);
    await libvirt.start();
    const fastFolder = await mkdtemp(join(tmpdir(), 'hgf-'));
    await chown(fastFolder, QEMU_USER, QEMU_USER);
    for (const [pool, folder] of [
      [POOL, libvirt.images],
      [FAST_POOL, fastFolder],
    ] as const) {
      await libvirt.virsh('pool-define-as', pool, 'dir', '--target', folder);
      await libvirt.virsh('pool-start', pool);
    }
    return new GatedMachine(libvirt, await LibvirtGate.open(libvirt.uri), fastFolder);
  }

  /** The domains of which the name begins with the prefix, as the list of VMs shows them: `name status memory`. */
  async domains(prefix: string): Promise<string[]> {
    const names = (await this.libvirt.domains()).filter((name) => name.startsWith(prefix));
    return Promise.all(names.map(async (name) => `${name} ${await this.describe(name)}`));
  }

  private async describe(name: string): Promise<string> {
    try {
      const state = (await this.libvirt.virsh('domstate', name)).trim();
      return `${STATUSES[state] ?? state} ${memoryOf(await this.libvirt.virsh('dumpxml', name))}`;
    } catch {
      // It was deleted in the meantime.
      return 'is gone';
    }
  }

  /** The memory that a domain has at its next start. */
  async nextMemory(name: string): Promise<string> {
    return memoryOf(await this.libvirt.virsh('dumpxml', name, '--inactive'));
  }

  /** All domains, and all files of the pools except the locks of a change that is ending. */
  async contents(): Promise<string[]> {
    const files = await Promise.all([this.libvirt.images, this.fastFolder].map((folder) => readdir(folder)));
    return [...(await this.libvirt.domains()), ...files.flat().filter((name) => !/^lock-.*\.lock$/.test(name))].sort();
  }

  /** The definition of a domain, and the digest of its boot disk. */
  async fingerprint(name: string): Promise<string> {
    const digest = createHash('sha256').update(await readFile(await this.bootFile(name)));
    return `${await this.libvirt.virsh('dumpxml', name)} ${digest.digest('hex')}`;
  }

  /** The end of QEMU's log, which has the reason when it died. */
  async lastLog(name: string): Promise<string> {
    const file = join(this.libvirt.images, '../cache/libvirt/qemu/log', `${name}.log`);
    return (await readFile(file, 'utf8').catch(() => '')).slice(-LOG_CHARACTERS);
  }

  /** The file of a domain's boot disk. */
  async bootFile(name: string): Promise<string> {
    const list = await this.libvirt.virsh('domblklist', name);
    return /^\s*vda\s+(\S+)/m.exec(list)?.[1] ?? '';
  }

  async close(): Promise<void> {
    await this.gate.close();
    await this.libvirt.close();
    await rm(this.fastFolder, { recursive: true, force: true });
  }
}

/** libvirt prints KiB. */
const memoryOf = (xml: string): string => `${Number(/<memory unit='KiB'>(\d+)</.exec(xml)?.[1]) / 1024}Mi`;
