import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DiskIngest,
  closeWhenRead,
  DomainError,
  hashesOf,
  loss,
  messageOf,
  throwFirstRefusal,
  type DiskFilling,
  type DiskUpdate,
  type DiskWriter,
  type IngestPlan,
  type IngestSpec,
  type IngestState,
  type IngestTarget,
  type Log,
  type Loss,
} from '@headgate/domain-contracts';
import { buildDomainXml } from '../domain-xml/build-domain-xml.js';
import type { DiskIo, DiskSpec, NicSpec } from '../domain-xml/domain-spec.js';
import type { InstanceMetadata, OwnedVolume, VolumeRole } from '../domain-xml/instance-metadata.js';
import { recordedOs } from '../guest-profiles/guest-profile.js';
import { expectOwnSession } from '../host/foreign-session.js';
import type { GuestNetwork } from '../network/guest-network.js';
import type { DomainEditor } from '../domains/domain-editor.js';
import type { DomainRemover } from '../removal/domain-remover.js';
import type { writeSeedIso } from '../seeds/seed-iso.js';
import type { KeyedLock } from '../locks/concurrency.js';
import { copyImage } from './copy-image.js';
import { openUpdate } from './disk-update.js';
import { expectFillable, openFilling, type FillDeps } from './fill-disk.js';
import { baseName, volumeName } from './ingest-names.js';
import { planIngest, type IngestPlanDeps, type PlannedIngest } from './ingest-plan.js';
import { openDisk } from './libvirt-disk-source.js';

export interface LibvirtDiskIngestDeps extends IngestPlanDeps, FillDeps {
  readonly editor: DomainEditor;
  readonly remover: DomainRemover;
  readonly lock: KeyedLock;
  readonly network: Pick<GuestNetwork, 'ensure'>;
  readonly diskIo: () => Promise<DiskIo>;
  readonly writeSeed: typeof writeSeedIso;
  readonly log: Log;
}

/** The files of a VM that is being received. The names of its disks contain those of the source. */
interface IngestFiles {
  readonly disks: readonly (DiskSpec & { readonly volume: OwnedVolume })[];
  readonly volumes: readonly OwnedVolume[];
  readonly seed?: string;
  readonly seedPath?: string;
  readonly nvramPath?: string;
  readonly serial: { readonly socket: string; readonly log: string };
}

/**
 * Receives VMs as domains whose UUID is the ID of the attempt. Their metadata has a mark instead of that of a creation,
 * so that a restart of the service leaves them to the task that fills them.
 */
export class LibvirtDiskIngest extends DiskIngest {
  constructor(private readonly deps: LibvirtDiskIngestDeps) {
    super();
  }

  override async check(): Promise<void> {
    await expectFillable(this.deps);
  }

  override async plan(spec: IngestSpec): Promise<IngestPlan> {
    const { host: _host, platform: _platform, nics: _nics, ...plan } = await planIngest(spec, this.deps);
    return plan;
  }

  /** Defines the domain first, which takes the name and lists its volumes. */
  override async begin(spec: IngestSpec): Promise<readonly Loss[]> {
    await this.check();
    const plan = await planIngest(spec, this.deps);
    throwFirstRefusal(plan);
    await this.deps.pool.ensure();
    const files = await this.filesOf(spec);
    const { nics, losses } = await this.nicsOf(plan);
    await this.deps.connection.domains.define(await this.xmlOf(spec, { ...plan, nics }, files));
    try {
      for (const { volume } of files.disks) await this.deps.pool.createBlank(volume.name, volume.bytes ?? 0);
      if (files.seed !== undefined) await this.writeSeed(spec, files.seed);
    } catch (error) {
      await this.discard(spec).catch((problem: unknown) =>
        this.deps.log.warn(
          { domain: spec.ref.name, reason: messageOf(problem) },
          'an incomplete VM could not be removed',
        ),
      );
      throw error;
    }
    return losses;
  }

  override async write(target: IngestTarget, disk: string, signal: AbortSignal): Promise<DiskWriter> {
    return openFilling({ path: await this.partialDisk(target, disk), format: 'qcow2' }, this.deps, signal);
  }

  override async fill(
    target: IngestTarget,
    disk: string,
    { from, report, signal }: DiskFilling,
  ): Promise<number | undefined> {
    const { path, sizeBytes } = await this.partialVolume(target, disk);
    return copyImage({
      from,
      to: { path, format: 'qcow2' },
      sizeBytes,
      signal,
      report: (fraction) => report(Math.floor(fraction * sizeBytes)),
    });
  }

  override get updateProblem(): undefined {
    return undefined;
  }

  override async update(target: IngestTarget, disk: string, signal: AbortSignal): Promise<DiskUpdate> {
    return openUpdate(await this.partialDisk(target, disk), this.deps, signal);
  }

  override async *hashes(target: IngestTarget, disk: string, signal: AbortSignal): AsyncIterable<string> {
    const path = await this.partialDisk(target, disk);
    yield* closeWhenRead(await openDisk({ path, format: 'qcow2' }, this.deps, signal), hashesOf);
  }

  override async writeFirmwareVariables(target: IngestTarget, content: Buffer): Promise<void> {
    const name = await this.partialVariables(target);
    const { pool, createTemporaryFolder } = this.deps;
    const folder = await createTemporaryFolder();
    try {
      const file = join(folder, 'variables');
      await writeFile(file, content, { mode: 0o600 });
      // From an attempt that was interrupted.
      await pool.remove(name);
      await pool.createFrom(name, file);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  override async readFirmwareVariables(target: IngestTarget): Promise<Buffer> {
    const name = await this.partialVariables(target);
    return readFile(`${await this.deps.pool.path()}/${name}`);
  }

  override async commit(target: IngestTarget): Promise<void> {
    const { connection, editor, lock } = this.deps;
    await lock.run(target.id, async () => {
      const metadata = await this.metadataOf(target);
      if (!metadata) throw new DomainError('INSTANCE_NOT_FOUND', `${target.ref.name} no longer exists.`);
      if (!isMark(metadata.provisioning)) return;
      if (metadata.provisioning === AUTOSTART_MARK) await connection.domains.setAutostart(target.id, true);
      await editor.updateMetadata(target.id, ({ provisioning: _done, ...rest }) => rest);
    });
  }

  override async discard(target: IngestTarget): Promise<void> {
    const { remover, lock } = this.deps;
    await lock.run(target.id, async () => {
      const metadata = await this.metadataOf(target);
      if (!metadata) return;
      if (!isMark(metadata.provisioning))
        throw new DomainError('WRONG_STATE', `${target.ref.name} is complete, so it is not removed.`);
      await remover.remove(target.id);
    });
  }

  override async state(target: IngestTarget): Promise<IngestState> {
    const metadata = await this.metadataOf(target);
    if (!metadata) return 'absent';
    return isMark(metadata.provisioning) ? 'partial' : 'committed';
  }

  private async metadataOf({ id }: IngestTarget): Promise<InstanceMetadata | undefined> {
    try {
      return (await this.deps.editor.read(id)).description.metadata;
    } catch (error) {
      if (DomainError.is(error, 'INSTANCE_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  /** The metadata of a VM that is not complete yet. */
  private async partialMetadata(target: IngestTarget): Promise<InstanceMetadata> {
    await expectOwnSession(this.deps.connection.uri, this.deps.users);
    const metadata = await this.metadataOf(target);
    if (!metadata) throw new DomainError('INSTANCE_NOT_FOUND', `${target.ref.name} is not being received.`);
    if (!isMark(metadata.provisioning)) throw new DomainError('WRONG_STATE', `${target.ref.name} is complete.`);
    return metadata;
  }

  /** The volume with the variables of its firmware. */
  private async partialVariables(target: IngestTarget): Promise<string> {
    const found = (await this.partialMetadata(target)).volumes.find(({ role }) => role === 'nvram');
    if (found) return found.name;
    throw new DomainError('DEVICE_NOT_FOUND', `The firmware of ${target.ref.name} has no variables.`);
  }

  /** The path of a disk that is not complete yet. */
  private async partialDisk(target: IngestTarget, disk: string): Promise<string> {
    return (await this.partialVolume(target, disk)).path;
  }

  private async partialVolume(
    target: IngestTarget,
    disk: string,
  ): Promise<{ readonly path: string; readonly sizeBytes: number }> {
    const metadata = await this.partialMetadata(target);
    const name = volumeName(target, disk);
    const found = metadata.volumes.find(
      (volume) => volume.name === name && (volume.role === 'disk' || volume.role === 'data'),
    );
    if (!found) throw new DomainError('DEVICE_NOT_FOUND', `${target.ref.name} has no disk ${disk}.`);
    return { path: `${await this.deps.pool.path()}/${name}`, sizeBytes: found.bytes ?? 0 };
  }

  private async filesOf(spec: IngestSpec): Promise<IngestFiles> {
    const { pool } = this.deps;
    const folder = await pool.path();
    const path = (name: string): string => `${folder}/${name}`;
    const own = (name: string, role: VolumeRole): OwnedVolume => ({ pool: pool.name, name, role });
    const base = baseName(spec);
    const disks = spec.vm.disks.map(({ name, sizeBytes, bus }, index) => {
      const volume = { ...own(volumeName(spec, name), index === 0 ? 'disk' : 'data'), bytes: sizeBytes };
      return { path: path(volume.name), format: 'qcow2', bus, volume };
    });
    const seed = spec.vm.cloudInit === undefined ? undefined : `${base}-seed.iso`;
    const nvram = spec.vm.firmware === 'bios' ? undefined : `${base}-nvram.fd`;
    const log = `${base}-serial.log`;
    return {
      disks,
      ...(seed !== undefined && { seed, seedPath: path(seed) }),
      ...(nvram !== undefined && { nvramPath: path(nvram) }),
      // Short, because a socket path is limited to 107 characters.
      serial: { socket: path(`${spec.id}.serial`), log: path(log) },
      volumes: [
        ...disks.map(({ volume }) => volume),
        ...(seed === undefined ? [] : [own(seed, 'seed')]),
        ...(nvram === undefined ? [] : [own(nvram, 'nvram')]),
        own(log, 'serial-log'),
      ],
    };
  }

  private async xmlOf(
    { id, ref, vm }: IngestSpec,
    { host, platform, nics }: Pick<PlannedIngest, 'host' | 'platform'> & { readonly nics: readonly NicSpec[] },
    files: IngestFiles,
  ): Promise<string> {
    const { clock, diskIo } = this.deps;
    const [disk, ...dataDisks] = files.disks;
    if (!disk) throw new DomainError('NOT_SUPPORTED', `${ref.name} has no disk.`);
    return buildDomainXml({
      name: ref.name,
      uuid: id,
      cpu: vm.cpu,
      memoryBytes: vm.memoryBytes,
      ...platform,
      features: host.features,
      diskIo: await diskIo(),
      arch: host.arch,
      accelerator: host.accelerator,
      disk,
      dataDisks,
      seed: files.seedPath,
      nvram: files.nvramPath,
      nics,
      serial: files.serial,
      vnc: 'socket',
      metadata: {
        owner: id,
        createdAt: clock.iso(),
        ...recordedOs(platform.guest),
        tags: vm.tags,
        isTemplate: false,
        isProtected: false,
        provisioning: vm.autostart ? AUTOSTART_MARK : MARK,
        volumes: files.volumes,
        snapshots: [],
      },
    });
  }

  /** A VM without a network can still be used through its consoles, so a failure does not end the move. */
  private async nicsOf({ nics }: Pick<PlannedIngest, 'nics'>): Promise<{ nics: NicSpec[]; losses: Loss[] }> {
    const found: { nics: NicSpec[]; losses: Loss[] } = { nics: [], losses: [] };
    for (const { name, network, ...nic } of nics) {
      try {
        found.nics.push({ ...nic, network: network ?? (await this.deps.network.ensure()) });
      } catch (error) {
        this.deps.log.warn({ card: name, reason: messageOf(error) }, 'the VM gets no network card');
        found.losses.push(loss('devices', `The network card ${name}: ${messageOf(error)}`));
      }
    }
    return found;
  }

  private async writeSeed({ id, ref, vm }: IngestSpec, volume: string): Promise<void> {
    const { pool, writeSeed, createTemporaryFolder } = this.deps;
    const folder = await createTemporaryFolder();
    try {
      const seed = { uuid: id, hostname: ref.name, ...(vm.cloudInit !== undefined && { userData: vm.cloudInit }) };
      await pool.createFrom(volume, await writeSeed(seed, folder));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** In place of the identity of the service that creates a VM. */
const MARK = 'move';
/** The VM is started with its host once it is complete. */
const AUTOSTART_MARK = 'move-autostart';

const isMark = (provisioning: string | undefined): boolean => provisioning === MARK || provisioning === AUTOSTART_MARK;
