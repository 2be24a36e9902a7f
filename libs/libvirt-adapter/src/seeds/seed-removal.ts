import { messageOf, type Clock, type Log } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DiskDescription, DomainDescription } from '../domain-xml/domain-description.js';
import type { OwnedVolume } from '../domain-xml/instance-metadata.js';
import { formatXml, type XmlElement } from '../xml/xml.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { KeyedLock } from '../locks/concurrency.js';
import type { DomainEditor } from '../domains/domain-editor.js';

export interface SeedRemovalDeps {
  readonly connection: LibvirtConnection;
  readonly pool: Pick<StoragePool, 'remove' | 'volumes'>;
  readonly editor: DomainEditor;
  readonly lock: KeyedLock;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often the reads of a seed are counted, from the start of the guest until the seed is gone. */
const CHECK_INTERVAL_MS = 10_000;
/** A guest whose agent responds has started: its seed has been read when it has been idle for this long. */
const IDLE_WITH_AGENT_MS = 20_000;
/** Without an agent: firmware and kernel also read the disc, long before cloud-init does on a slow machine. */
const IDLE_WITHOUT_AGENT_MS = 5 * 60_000;

interface Watched {
  hasAgent: boolean;
  readBytes: number;
  /** When the last read was noticed; milliseconds since the epoch. */
  lastRead: number;
  readonly cancel: () => void;
}

/**
 * Detaches the cloud-init disc, which contains passwords, once the guest has read it, and removes its volume. Until
 * then the guest may restart as often as it likes. After an interruption the removal continues when the domain is
 * observed again.
 */
export class SeedRemoval {
  private readonly watched = new Map<string, Watched>();
  private readonly running = new Set<Promise<void>>();

  constructor(private readonly deps: SeedRemovalDeps) {}

  /** Called with each domain whenever it is read. */
  observe(domain: DomainDescription, isActive: boolean): void {
    const { uuid, metadata, unreadable } = domain;
    const seed = seedOf(domain);
    if (!seed || metadata.provisioning !== undefined || unreadable !== undefined) return this.forget(uuid);
    if (!seedDisk(domain, seed)) {
      this.forget(uuid);
      return this.track(this.remove(uuid));
    }
    if (!isActive) return this.forget(uuid);
    const hasAgent = domain.agent === 'connected';
    const known = this.watched.get(uuid);
    if (known) known.hasAgent = hasAgent;
    else this.watch(uuid, hasAgent);
  }

  forget(uuid: string): void {
    this.watched.get(uuid)?.cancel();
    this.watched.delete(uuid);
  }

  /** Resolves when nothing is being removed at the moment. */
  async whenIdle(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  async close(): Promise<void> {
    for (const uuid of [...this.watched.keys()]) this.forget(uuid);
    await this.whenIdle();
  }

  private track(work: Promise<void>): void {
    this.running.add(work);
    void work.finally(() => this.running.delete(work));
  }

  private watch(uuid: string, hasAgent: boolean): void {
    const { clock } = this.deps;
    const cancel = clock.every(CHECK_INTERVAL_MS, () => this.track(this.check(uuid)));
    this.watched.set(uuid, { hasAgent, readBytes: 0, lastRead: clock.now(), cancel });
  }

  private async check(uuid: string): Promise<void> {
    const { connection, editor, clock } = this.deps;
    try {
      const { description } = await editor.read(uuid);
      const seed = seedOf(description);
      const disk = seed && seedDisk(description, seed);
      const readBytes = disk ? await connection.domains.readBytes(uuid, disk.target) : 0;
      const watched = this.watched.get(uuid);
      if (!watched) return;
      if (readBytes !== watched.readBytes) Object.assign(watched, { readBytes, lastRead: clock.now() });
      const idleMs = watched.hasAgent ? IDLE_WITH_AGENT_MS : IDLE_WITHOUT_AGENT_MS;
      if (readBytes > 0 && clock.now() - watched.lastRead >= idleMs) await this.remove(uuid);
    } catch {
      // The domain has stopped, or libvirt is unreachable: the next observation shows which.
    }
  }

  private async remove(uuid: string): Promise<void> {
    const { lock, log } = this.deps;
    await lock
      .run(uuid, () => this.removeLocked(uuid))
      .catch((error: unknown) =>
        log.warn({ domain: uuid, reason: messageOf(error) }, 'the cloud-init disc could not be removed'),
      );
  }

  private async removeLocked(uuid: string): Promise<void> {
    const { editor, pool, log } = this.deps;
    const { description, isActive, isPersistent } = await editor.read(uuid);
    const seed = seedOf(description);
    if (!seed) return;
    const disk = seedDisk(description, seed);
    if (disk) {
      await this.detach(uuid, disk, { inLiveDomain: isActive, inPersistentDomain: isPersistent });
      // A guest may hold the disc for a while; the next check tries again.
      const { description: after } = await editor.read(uuid);
      if (seedDisk(after, seed)) return;
    }
    await pool.volumes();
    await pool.remove(seed.name);
    await editor.updateMetadata(uuid, (metadata) => ({
      ...metadata,
      volumes: metadata.volumes.filter((volume) => volume.name !== seed.name),
    }));
    this.forget(uuid);
    log.info({ domain: description.name }, 'removed the cloud-init disc, which the guest has read');
  }

  private async detach(
    uuid: string,
    { target, device, path }: DiskDescription,
    scope: { inLiveDomain: boolean; inPersistentDomain: boolean },
  ): Promise<void> {
    const { domains } = this.deps.connection;
    const isDrive = device === 'cdrom';
    const disk: XmlElement = {
      '@type': 'file',
      '@device': device,
      ...(!isDrive && path !== undefined && { source: { '@file': path } }),
      target: { '@dev': target, '@bus': isDrive ? 'sata' : 'virtio' },
      ...(isDrive && { readonly: '' }),
    };
    const xml = formatXml({ disk });
    // A drive stays, without its medium.
    if (isDrive) return domains.updateDevice(uuid, { xml, ...scope });
    try {
      await domains.detachDevice(uuid, { xml, ...scope });
    } catch (error) {
      // An earlier attempt has removed it from the configuration, and the guest still holds it.
      if (!scope.inLiveDomain || !scope.inPersistentDomain) throw error;
      await domains.detachDevice(uuid, { xml, inLiveDomain: true, inPersistentDomain: false });
    }
  }
}

/** The seed that was created for this domain. */
const seedOf = ({ uuid, metadata }: DomainDescription): OwnedVolume | undefined =>
  metadata.owner === uuid ? metadata.volumes.find(({ role }) => role === 'seed') : undefined;

const seedDisk = ({ disks }: DomainDescription, seed: OwnedVolume): DiskDescription | undefined =>
  disks.find(({ path }) => path?.endsWith(`/${seed.name}`));
