import { rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  closeWhenRead,
  DiskRestore,
  DomainError,
  hashesOf,
  messageOf,
  throwFirstRefusal,
  SILENT_REPORTER,
  type DiskRestorePlan,
  type DiskRestoreSpec,
  type DiskRestoreState,
  type DiskRestoreTarget,
  type DiskWriter,
} from '@headgate/domain-contracts';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { InstanceMetadata, OwnedVolume } from '../domain-xml/instance-metadata.js';
import type { PendingChange } from '../domain-xml/snapshot-metadata.js';
import type { EditableDomain } from '../domains/domain-editor.js';
import { readDomainHardware } from '../hardware/domain-hardware.js';
import { diskElement, newPlace } from '../hardware/volumes/new-disk.js';
import { expectOwnSession } from '../host/foreign-session.js';
import { expectFillable, openFilling, type FillDeps } from '../moves/fill-disk.js';
import { variablesFile } from '../moves/firmware-variables.js';
import { openDisk } from '../moves/libvirt-disk-source.js';
import { DiskChanges, withRole, type DiskChangesDeps } from '../snapshots/disk-changes.js';
import { editDomainXml } from '../snapshots/edit-domain-xml.js';
import type { LayerMerger } from '../snapshots/layer-merger.js';
import { formatXml } from '../xml/xml.js';
import { DiskRestorePlans, type DiskRestorePlanDeps, type PreparedRestore } from './disk-restore-plans.js';
import { volumeOf, volumesOfAttempt } from './restored-volumes.js';

export interface LibvirtDiskRestoreDeps extends DiskRestorePlanDeps, DiskChangesDeps, FillDeps {
  /** Removes the volumes that no disk uses any more. */
  readonly merger: Pick<LayerMerger, 'clean'>;
}

/**
 * Fills new volumes, and lets a VM use them. The metadata of the domain lists them before they exist. A restore that
 * replaces disks is also its pending change, which keeps starts, snapshots and other changes of its disks away.
 */
export class LibvirtDiskRestore extends DiskRestore {
  private readonly plans: DiskRestorePlans;
  private readonly changes: DiskChanges;

  constructor(private readonly deps: LibvirtDiskRestoreDeps) {
    super();
    this.plans = new DiskRestorePlans(deps);
    this.changes = new DiskChanges(deps);
  }

  override async plan(spec: DiskRestoreSpec): Promise<DiskRestorePlan> {
    return (await this.plans.prepare(spec)).plan;
  }

  override async begin(spec: DiskRestoreSpec): Promise<void> {
    const { pool, lock, log } = this.deps;
    await expectFillable(this.deps);
    await pool.ensure();
    const { disks } = await lock.run(spec.uid, async () => {
      const prepared = await this.plans.prepare(spec);
      throwFirstRefusal(prepared.plan);
      await this.record(spec, prepared);
      return prepared;
    });
    try {
      for (const { volume, sizeBytes, format } of disks) await pool.createBlank(volume, sizeBytes, format);
    } catch (error) {
      await this.discard(spec).catch((problem: unknown) =>
        log.warn({ domain: spec.ref.name, reason: messageOf(problem) }, 'new volumes could not be removed'),
      );
      throw error;
    }
  }

  override async write(target: DiskRestoreTarget, disk: string, signal: AbortSignal): Promise<DiskWriter> {
    return openFilling(await this.partialDisk(target, disk), this.deps, signal);
  }

  override async *hashes(target: DiskRestoreTarget, disk: string, signal: AbortSignal): AsyncIterable<string> {
    yield* closeWhenRead(await openDisk(await this.partialDisk(target, disk), this.deps, signal), hashesOf);
  }

  override async writeFirmwareVariables(target: DiskRestoreTarget, content: Buffer): Promise<void> {
    const { pool, createTemporaryFolder } = this.deps;
    const { variables } = volumesOfAttempt((await this.partial(target)).description, target);
    if (!variables) throw new DomainError('DEVICE_NOT_FOUND', `The variables of ${target.ref.name} are not restored.`);
    const folder = await createTemporaryFolder();
    try {
      const file = join(folder, 'variables');
      await writeFile(file, content, { mode: 0o600 });
      // From an attempt that was interrupted.
      await pool.remove(variables.name);
      await pool.createFrom(variables.name, file);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  override async commit(target: DiskRestoreTarget): Promise<void> {
    const { lock, merger, log } = this.deps;
    const isExchanged = await lock.run(target.uid, async () => {
      if ((await this.state(target)) === 'committed') return true;
      const domain = await this.partial(target);
      const { pending } = domain.description.metadata;
      if (pending?.operation === target.id) {
        await this.exchange(target, domain, pending);
        return true;
      }
      await this.attach(target, domain);
      return false;
    });
    if (!isExchanged) return;
    // The VM is complete. Volumes that remain are removed when the service starts the next time.
    await merger
      .clean(target.uid, SILENT_REPORTER)
      .catch((error: unknown) =>
        log.warn({ domain: target.ref.name, reason: messageOf(error) }, 'replaced volumes could not be removed'),
      );
  }

  override async discard(target: DiskRestoreTarget): Promise<void> {
    const { lock } = this.deps;
    await lock.run(target.uid, async () => {
      const state = await this.state(target);
      if (state === 'absent') return;
      if (state === 'committed')
        throw new DomainError('WRONG_STATE', `${target.ref.name} has the restored disks already.`);
      const domain = await this.partial(target);
      const { pending } = domain.description.metadata;
      const { disks, variables } = volumesOfAttempt(domain.description, target);
      if (pending?.operation === target.id) {
        await this.keepFormer(target.uid, domain, pending);
        return this.changes.undo(
          target.uid,
          [...disks, ...(variables ? [variables] : [])].map(({ name }) => name),
        );
      }
      // Some may have been attached.
      const used = await this.usedVolumes(target.uid);
      const unused = disks.filter(({ name }) => !used.has(name)).map(({ name }) => name);
      for (const name of unused) await this.deps.pool.remove(name);
      await this.deps.editor.updateMetadata(target.uid, (metadata) => ({
        ...metadata,
        volumes: settled(
          metadata.volumes.filter(({ name }) => !unused.includes(name)),
          target.id,
        ),
      }));
    });
  }

  override async state(target: DiskRestoreTarget): Promise<DiskRestoreState> {
    const domain = await this.read(target);
    if (!domain) return 'absent';
    const { disks } = volumesOfAttempt(domain.description, target);
    if (disks.length === 0) return 'absent';
    if (domain.description.metadata.pending?.operation === target.id) return 'partial';
    const used = await this.usedVolumes(target.uid);
    return disks.every(({ name }) => used.has(name)) ? 'committed' : 'partial';
  }

  private async record(spec: DiskRestoreSpec, { disks, variables }: PreparedRestore): Promise<void> {
    const { editor, pool, service, clock } = this.deps;
    const { id, uid, mode } = spec;
    const added: OwnedVolume[] = [
      ...disks.map(({ volume, role, sizeBytes }) => ({
        pool: pool.name,
        name: volume,
        role,
        bytes: sizeBytes,
        pending: id,
      })),
      ...(variables ? [{ pool: pool.name, name: variables.volume, role: 'nvram' as const, pending: id }] : []),
    ];
    const pending: PendingChange = {
      kind: 'disk-restore',
      service: service(),
      snapshot: '',
      startedAt: clock.iso(),
      wasRunning: false,
      operation: id,
      disks: disks.map(({ name, volume, replaced = '' }) => ({ target: name, name: volume, replaced })),
      ...(variables && { nvram: variables.volume }),
    };
    await editor.updateMetadata(uid, (metadata) => ({
      ...metadata,
      volumes: [...metadata.volumes, ...added],
      ...(mode === 'replace' && { pending }),
    }));
  }

  /** Replaces the files of all disks, and the record of the change, by one definition. */
  private async exchange(target: DiskRestoreTarget, domain: EditableDomain, pending: PendingChange): Promise<void> {
    const { connection, pool, editor, log } = this.deps;
    const { uid, ref } = target;
    const folder = await pool.path();
    const former = pending.disks.map(({ target: disk, replaced }) => ({ target: disk, name: replaced }));
    if (domain.isActive)
      throw new DomainError('WRONG_STATE', `${ref.name} was started meanwhile: nothing was restored.`);
    if (!this.changes.uses(domain, folder, former))
      throw new DomainError('WRONG_STATE', `The disks of ${ref.name} were changed meanwhile: nothing was restored.`);
    const before = await connection.domains.xml(uid, { withSecrets: true });
    await this.changes.redefine(uid, {
      disks: pending.disks,
      ...(pending.nvram !== undefined && { nvram: pending.nvram }),
      metadata: (metadata) => withRestored(metadata, pending),
    });
    const after = await editor.read(uid);
    if (!after.isActive || this.changes.uses(after, folder, pending.disks)) {
      log.info({ domain: ref.name, disks: pending.disks.map((disk) => disk.target) }, 'replaced disks');
      return;
    }
    // Another program has started it in the moment before the definition: its guest writes to the former disks.
    await connection.domains.define(before);
    throw new DomainError('WRONG_STATE', `${ref.name} was started meanwhile: nothing was restored.`);
  }

  /** A crash may have left a running guest with the former files, and its next start with the new ones. */
  private async keepFormer(uuid: string, { description }: EditableDomain, pending: PendingChange): Promise<void> {
    const { connection, pool } = this.deps;
    const folder = await pool.path();
    const persistent = await connection.domains.persistentXml(uuid);
    const next = describeDomain(persistent);
    const isNext = (target: string, name: string): boolean =>
      next.disks.some((disk) => disk.target === target && disk.path === `${folder}/${name}`);
    const switched = pending.disks.filter(({ target, name }) => isNext(target, name));
    if (switched.length === 0) return;
    const variables = pending.nvram === undefined ? undefined : variablesFile(description.document);
    await connection.domains.define(
      editDomainXml(persistent, {
        disks: new Map(switched.map(({ target, replaced }) => [target, `${folder}/${replaced}`])),
        metadata: description.metadata,
        ...(variables && { nvram: variables.path }),
      }),
    );
  }

  private async attach(target: DiskRestoreTarget, { description }: EditableDomain): Promise<void> {
    const { connection, pool, editor } = this.deps;
    const { uid, ref } = target;
    const folder = await pool.path();
    for (const { name } of volumesOfAttempt(description, target).disks) {
      if ((await this.usedVolumes(uid)).has(name)) continue;
      const hardware = await readDomainHardware(connection, { uuid: uid, name: ref.name }, pool.name);
      if (!hardware) throw new DomainError('INSTANCE_NOT_FOUND', `${ref.name} no longer exists.`);
      const place = newPlace(hardware);
      await connection.domains.attachDevice(uid, {
        xml: formatXml({ disk: diskElement(place, { path: `${folder}/${name}`, format: 'qcow2', volume: name }) }),
        inLiveDomain: hardware.state.isActive && place.effect === 'now',
        inPersistentDomain: true,
      });
    }
    await editor.updateMetadata(uid, (metadata) => ({ ...metadata, volumes: settled(metadata.volumes, target.id) }));
  }

  /** The names of the volumes that the domain has as disks, now or at its next start. */
  private async usedVolumes(uuid: string): Promise<ReadonlySet<string>> {
    const { connection } = this.deps;
    const found = await connection.domains.inspect(uuid);
    if (!found) return new Set();
    const documents = found.isPersistent ? [found.xml, await connection.domains.persistentXml(uuid)] : [found.xml];
    const disks = documents.flatMap((xml) => describeDomain(xml).disks);
    return new Set(disks.flatMap(({ path }) => (path === undefined ? [] : [basename(path)])));
  }

  private async read({ uid }: DiskRestoreTarget): Promise<EditableDomain | undefined> {
    try {
      return await this.deps.editor.read(uid);
    } catch (error) {
      if (DomainError.is(error, 'INSTANCE_NOT_FOUND')) return undefined;
      throw error;
    }
  }

  private async partial(target: DiskRestoreTarget): Promise<EditableDomain> {
    const { connection, users } = this.deps;
    await expectOwnSession(connection.uri, users);
    const domain = await this.read(target);
    const state = await this.state(target);
    if (!domain || state === 'absent')
      throw new DomainError('INSTANCE_NOT_FOUND', `No disks of ${target.ref.name} are being restored.`);
    if (state === 'committed')
      throw new DomainError('WRONG_STATE', `${target.ref.name} has the restored disks already.`);
    return domain;
  }

  private async partialDisk(
    target: DiskRestoreTarget,
    disk: string,
  ): Promise<{ readonly path: string; readonly format: 'qcow2' | 'raw' }> {
    const { description } = await this.partial(target);
    const { disks } = volumesOfAttempt(description, target);
    for (const format of ['qcow2', 'raw'] as const) {
      const found = disks.find(({ name }) => name === volumeOf(target, description.name, disk, format));
      if (found) return { path: `${await this.deps.pool.path()}/${found.name}`, format };
    }
    throw new DomainError('DEVICE_NOT_FOUND', `The disk ${disk} is not being restored.`);
  }
}

const settled = (volumes: readonly OwnedVolume[], id: string): OwnedVolume[] =>
  volumes.map(({ pending, ...volume }) => (pending === undefined || pending === id ? volume : { ...volume, pending }));

/** The former volumes are layers that nothing needs, and are removed as such. */
function withRestored({ pending: _done, ...metadata }: InstanceMetadata, change: PendingChange): InstanceMetadata {
  const volumes = settled(metadata.volumes, change.operation ?? '');
  const variables =
    change.nvram === undefined
      ? []
      : volumes.filter(({ role, name }) => role === 'nvram' && name !== change.nvram).map(({ name }) => name);
  return {
    ...metadata,
    volumes: withRole(volumes, new Set([...change.disks.map(({ replaced }) => replaced), ...variables]), 'layer'),
  };
}
