import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock, type Backend } from '@headgate/domain-contracts';
import { PrivateLibvirtd } from '@headgate/testing';
import type { KilledMigration } from './migrating-process.js';
import { LibvirtBackend } from '../libvirt-backend.js';
import type { MigrationTransport } from '../migration/migration-host.js';

/** Two machines, and a service with a context for each of them. */
export class LibvirtPair {
  private readonly opened: LibvirtBackend[] = [];

  private constructor(
    readonly machines: readonly [PrivateLibvirtd, PrivateLibvirtd],
    private readonly dataDir: string,
    private readonly image: string,
  ) {}

  /** @param settings lines for the qemu.conf of both */
  static async open(image: string, settings = ''): Promise<LibvirtPair> {
    const machines = [
      await PrivateLibvirtd.create('alpha', settings),
      await PrivateLibvirtd.create('beta', settings),
    ] as const;
    for (const machine of machines) await machine.start();
    return new LibvirtPair(machines, await mkdtemp(join(tmpdir(), 'hgm-data-')), image);
  }

  /** What another process needs to be the same service. */
  get contexts(): KilledMigration['contexts'] {
    return this.machines.map(({ name, uri, images }) => ({
      context: name,
      uri,
      poolPath: images,
      dataDir: join(this.dataDir, name),
    }));
  }

  /** The contexts are named after their machines. */
  start(
    options: { readonly images?: readonly string[]; readonly transport?: MigrationTransport } = {},
  ): readonly [LibvirtBackend, LibvirtBackend] {
    const backends: LibvirtBackend[] = [];
    for (const [i, machine] of this.machines.entries()) {
      backends.push(
        LibvirtBackend.open({
          context: machine.name,
          uri: machine.uri,
          dataDir: join(this.dataDir, machine.name),
          clock: new SystemClock(),
          accelerator: () => Promise.resolve('tcg'),
          tinyGuest: () => Promise.resolve(this.image),
          poolPath: options.images?.[i] ?? machine.images,
          peers: (): readonly Backend[] => backends,
          migrationAddress: '127.0.0.1',
          ...(options.transport !== undefined && { migrationTransport: options.transport }),
        }),
      );
    }
    this.opened.push(...backends);
    return backends as unknown as readonly [LibvirtBackend, LibvirtBackend];
  }

  async stop(): Promise<void> {
    await Promise.all(this.opened.splice(0).map((backend) => backend.close()));
  }

  async close(): Promise<void> {
    await this.stop();
    await Promise.all(this.machines.map((machine) => machine.close()));
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
