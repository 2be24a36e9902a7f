import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import {
  DiskSource,
  DomainError,
  releaseOnDestroy,
  type Clock,
  type InstanceRef,
  type LocalDisk,
  type PortableDisk,
  type Refusal,
  type VmReading,
} from '@headgate/domain-contracts';
import { readUserData } from '../cloning/read-seed.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { describeDomain, type DomainDescription } from '../domain-xml/domain-description.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { NbdServer, type ExportedDisk } from '../export/nbd-server.js';
import type { GuestProfiles } from '../guest-profiles/guest-profile.js';
import { expectOwnSession, foreignSessionRefusal, type Users } from '../host/foreign-session.js';
import { isRemote } from '../host/host.js';
import type { DiskUsage } from '../storage/disk-usage.js';
import type { QemuImg } from '../storage/qemu-img.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { findCopyableDisks, readingRefusal, type CopyableDisk } from './copyable-disks.js';
import { describePlatform } from './describe-portable.js';
import { describeVariables, readVariables, variablesFile } from './firmware-variables.js';
import { operatingSystemOf } from './operating-system.js';

export interface OpenDiskDeps {
  readonly clock: Clock;
  /** Creates a private folder; the stream removes it. */
  readonly createTemporaryFolder: () => Promise<string>;
  /** Replaced in tests. */
  readonly users?: Users;
}

export interface LibvirtDiskSourceDeps extends OpenDiskDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly pool: StoragePool;
  readonly images: Pick<QemuImg, 'measure'>;
  readonly readUsage: () => Promise<DiskUsage>;
  readonly profiles: GuestProfiles;
}

/** Reads VMs whose disks are files or block devices of this machine. */
export class LibvirtDiskSource extends DiskSource {
  constructor(private readonly deps: LibvirtDiskSourceDeps) {
    super();
  }

  override async describe(ref: InstanceRef): Promise<VmReading> {
    const { connection } = this.deps;
    const { description, isPersistent } = await this.read(ref);
    const found = findCopyableDisks(description);
    const platform = describePlatform(description);
    const foreign = await foreignSessionRefusal(connection.uri, this.deps.users);
    const sharing = foreign ? [] : await this.sharingRefusals(description, found.disks);
    const refusals = [
      ...(foreign ? [foreign] : []),
      ...stateRefusals(description, isPersistent, isRemote(connection.uri)),
      ...found.refusals,
      ...platform.refusals,
      ...sharing,
    ];
    const isReadable = foreign === undefined && !isRemote(connection.uri);
    const disks = await this.measure(found.disks, { isReadable, refusals });
    const { cpu, memoryBytes, arch, metadata } = description;
    const cloudInit = isReadable ? await this.userData(description) : undefined;
    const { firmware } = platform;
    const firmwareVariables = foreign
      ? undefined
      : await describeVariables(description.document, { firmware, isRemote: isRemote(connection.uri) });
    const os = await operatingSystemOf(description, this.deps.profiles);
    return {
      vm: {
        cpu,
        memoryBytes,
        arch,
        firmware: platform.firmware,
        tpm: platform.tpm,
        // libvirt keeps the state of every emulated TPM.
        hasTpmState: platform.tpm,
        ...(firmwareVariables && { firmwareVariables }),
        ...(os !== undefined && { os }),
        autostart: isPersistent && (await connection.domains.autostart(description.uuid)),
        tags: metadata.tags,
        ...(cloudInit !== undefined && { cloudInit }),
        disks,
        nics: platform.nics,
      },
      refusals,
      warnings: [],
      losses: [...found.losses, ...platform.losses],
    };
  }

  override async open(ref: InstanceRef, disk: string, signal: AbortSignal): Promise<Readable> {
    return openDisk(await this.readableDisk(ref, disk), this.deps, signal);
  }

  override async localDisk(ref: InstanceRef, disk: string): Promise<LocalDisk> {
    const { path, format } = await this.readableDisk(ref, disk);
    return { path, format };
  }

  override async readFirmwareVariables(ref: InstanceRef): Promise<Buffer> {
    const { description, isActive } = await this.read(ref);
    if (isActive) throw new DomainError('WRONG_STATE', `${ref.name} runs: stop it before reading its variables.`);
    await expectOwnSession(this.deps.connection.uri, this.deps.users);
    const file = variablesFile(description.document);
    if (!file) throw new DomainError('DEVICE_NOT_FOUND', `The firmware of ${ref.name} has no variables.`);
    return readVariables(file);
  }

  /** The configuration of the next start, which is that of the copy. */
  private async read(ref: InstanceRef) {
    const { connection, finder } = this.deps;
    const { uuid } = await finder.find(ref);
    const domain = await connection.domains.inspect(uuid);
    if (!domain) throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${ref.namespace}/${ref.name}.`);
    const xml = domain.isPersistent ? await connection.domains.persistentXml(uuid) : domain.xml;
    return { description: describeDomain(xml), isActive: domain.state.isActive, isPersistent: domain.isPersistent };
  }

  private async measure(
    disks: readonly CopyableDisk[],
    { isReadable, refusals }: { readonly isReadable: boolean; readonly refusals: Refusal[] },
  ): Promise<PortableDisk[]> {
    const measured: PortableDisk[] = [];
    for (const disk of disks) {
      const refusal = isReadable ? await readingRefusal(disk) : undefined;
      if (refusal) refusals.push(refusal);
      const { sizeBytes, usedBytes } =
        isReadable && refusal === undefined
          ? await this.deps.images.measure(disk.path, disk.format)
          : { sizeBytes: 0, usedBytes: null };
      measured.push({ name: disk.target, bus: disk.bus, sizeBytes, usedBytes, storageClass: this.deps.pool.name });
    }
    return measured;
  }

  private async readableDisk(ref: InstanceRef, disk: string): Promise<CopyableDisk> {
    const { description, isActive } = await this.read(ref);
    if (isActive) throw new DomainError('WRONG_STATE', `${ref.name} runs: stop it before reading its disks.`);
    if (description.metadata.provisioning !== undefined)
      throw new DomainError('WRONG_STATE', `The disks of ${ref.name} are still being filled.`);
    if (isRemote(this.deps.connection.uri)) throw new DomainError('NOT_SUPPORTED', REMOTE_DISKS);
    await expectOwnSession(this.deps.connection.uri, this.deps.users);
    const found = findCopyableDisks(description).disks.find(({ target }) => target === disk);
    if (!found) throw new DomainError('DEVICE_NOT_FOUND', `${ref.name} has no disk ${disk} that can be copied.`);
    const refusal = await readingRefusal(found);
    if (refusal) throw new DomainError(refusal.code, refusal.reason);
    return found;
  }

  private async sharingRefusals({ name, uuid }: DomainDescription, disks: readonly CopyableDisk[]): Promise<Refusal[]> {
    const usage = await this.deps.readUsage();
    return disks
      .filter(({ path }) => usage.isUsedByOthers(path, uuid))
      .map(({ target }) => ({
        code: 'BUSY',
        reason: `The disk ${target} of ${name} is also used by another VM.`,
        remedy: 'Detach it from the other VM, or delete the clone that is based on it.',
      }));
  }

  /** Present until the guest has read it. */
  private async userData({ metadata }: DomainDescription): Promise<string | undefined> {
    const { pool } = this.deps;
    const seed = metadata.volumes.find(({ role }) => role === 'seed');
    if (!seed) return undefined;
    return readUserData(`${await pool.path()}/${seed.name}`).catch(() => undefined);
  }
}

const REMOTE_DISKS = 'Disks of another machine are not copied: run the service there.';

function stateRefusals(
  { name, metadata, unreadable }: DomainDescription,
  isPersistent: boolean,
  isElsewhere: boolean,
): Refusal[] {
  const refusals: Refusal[] = [];
  const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
    void refusals.push({ code, reason, remedy });
  if (unreadable !== undefined) refuse('WRONG_STATE', `${name}: ${unreadable}`, 'Correct its metadata with virsh.');
  if (!isPersistent) refuse('NOT_SUPPORTED', `${name} is a transient domain.`, 'Define it in libvirt first.');
  if (isElsewhere)
    refuse('NOT_SUPPORTED', `The disks of ${name} are on another machine.`, 'Run the service on that machine.');
  if (metadata.provisioning !== undefined)
    refuse('BUSY', `${name} is still being created.`, 'Wait until its disk is ready.');
  if (metadata.failure !== undefined)
    refuse('WRONG_STATE', `${name} has no disk: ${metadata.failure}`, 'Delete it, then create it again.');
  if (metadata.pending !== undefined)
    refuse('BUSY', `A ${metadata.pending.kind} of ${name} is in progress.`, 'Wait until it has ended.');
  if (metadata.snapshots.length > 0)
    refuse('WRONG_STATE', `${name} has snapshots, which can't be moved.`, 'Delete its snapshots first.');
  return refusals;
}

/** Opens a disk for reading; nothing can change it until the stream is closed. */
export async function openDisk(
  disk: ExportedDisk,
  { clock, createTemporaryFolder }: OpenDiskDeps,
  signal: AbortSignal,
): Promise<Readable> {
  signal.throwIfAborted();
  const folder = await createTemporaryFolder();
  const server = NbdServer.start(disk, folder);
  const release = async (): Promise<void> => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return releaseOnDestroy(await server.open(clock, signal), release);
  } catch (error) {
    await release();
    throw error;
  }
}
