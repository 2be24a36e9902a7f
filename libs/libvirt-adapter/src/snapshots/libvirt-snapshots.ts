import {
  DomainError,
  InstanceSnapshots,
  messageOf,
  throwFirstRefusal,
  SILENT_REPORTER,
  type AcceptedSnapshotWork,
  type BackgroundWork,
  type InstanceRef,
  type OperationKey,
  type OperationState,
  type Plan,
  type Snapshot,
  type SnapshotOperation,
  type SnapshotRequest,
  type TaskReporter,
} from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { InstanceMetadata } from '../domain-xml/instance-metadata.js';
import type { DiskVolume, PendingChange, SnapshotRecord } from '../domain-xml/snapshot-metadata.js';
import { endJob, followJob } from '../connection/follow-job.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { DomainFinder, DomainId } from '../domains/domain-finder.js';
import type { EditableDomain } from '../domains/domain-editor.js';
import { startDomain } from '../domains/start-domain.js';
import { Slots } from '../locks/concurrency.js';
import { DiskChanges, volumesOf, withRole, type DiskChangesDeps } from './disk-changes.js';
import type { DiskHolds } from '../locks/disk-holds.js';
import type { LayerMerger } from './layer-merger.js';
import { editDomainXml } from './edit-domain-xml.js';
import type { FoundDisks } from './snapshot-disks.js';
import { PARTS, SnapshotPlans, type Prepared } from './snapshot-plans.js';
import type { TpmState } from './tpm-state.js';

export interface LibvirtSnapshotsDeps extends DiskChangesDeps {
  readonly finder: DomainFinder;
  readonly merger: LayerMerger;
  readonly tpm: TpmState;
  readonly holds: DiskHolds;
}

/**
 * Snapshots as layers of qcow2 files. A snapshot freezes the present files of the disks and puts overlays on top;
 * restoring it puts new overlays on the frozen files. The metadata of the domain lists the snapshots.
 */
export class LibvirtSnapshots extends InstanceSnapshots {
  private readonly changes: DiskChanges;
  private readonly plans: SnapshotPlans;
  private readonly recoveries = new Set<Promise<void>>();
  private readonly recoverySlots = new Slots(1);

  constructor(private readonly deps: LibvirtSnapshotsDeps) {
    super();
    this.changes = new DiskChanges(deps);
    this.plans = new SnapshotPlans(deps);
  }

  override async list(ref: InstanceRef): Promise<readonly Snapshot[]> {
    const { uuid } = await this.deps.finder.find(ref);
    const { description } = await this.deps.editor.read(uuid);
    return presentSnapshots(description.metadata, description.uuid);
  }

  override async planCreate(ref: InstanceRef, request: SnapshotRequest): Promise<Plan> {
    return (await this.plans.prepareCreate(await this.deps.finder.find(ref), request)).plan;
  }

  override async create(ref: InstanceRef, request: SnapshotRequest, key?: OperationKey): Promise<AcceptedSnapshotWork> {
    const { finder, holds, lock } = this.deps;
    const id = await finder.find(ref);
    const work: BackgroundWork = (report) =>
      holds.run(id, () =>
        lock.run(id.uuid, async () => {
          const prepared = await this.plans.prepareCreate(id, request, true);
          throwFirstRefusal(prepared.plan);
          await this.take(prepared, request, { report, key });
        }),
      );
    if (request.memory !== true) {
      await work(SILENT_REPORTER);
      return {};
    }
    // Saving the memory takes minutes, so that it is a task.
    throwFirstRefusal((await this.plans.prepareCreate(id, request)).plan);
    holds.expectFree(id);
    return { remaining: work };
  }

  override async planRestore(ref: InstanceRef, name: string): Promise<Plan> {
    return (await this.plans.prepareRestore(await this.deps.finder.find(ref), name)).plan;
  }

  override async restore(ref: InstanceRef, name: string, key?: OperationKey): Promise<BackgroundWork> {
    const id = await this.deps.finder.find(ref);
    throwFirstRefusal((await this.plans.prepareRestore(id, name)).plan);
    this.deps.holds.expectFree(id);
    return (report) =>
      this.deps.holds.run(id, async () => {
        await this.deps.lock.run(id.uuid, async () => {
          const prepared = await this.plans.prepareRestore(id, name, true);
          throwFirstRefusal(prepared.plan);
          await this.revert(prepared, { report, key });
        });
        await this.deps.merger.clean(id.uuid, report);
      });
  }

  override async planDelete(ref: InstanceRef, name: string): Promise<Plan> {
    return (await this.plans.prepareDelete(await this.deps.finder.find(ref), name)).plan;
  }

  override async delete(ref: InstanceRef, name: string): Promise<AcceptedSnapshotWork> {
    const id = await this.deps.finder.find(ref);
    this.deps.holds.expectFree(id);
    await this.deps.lock.run(id.uuid, async () => {
      throwFirstRefusal((await this.plans.prepareDelete(id, name)).plan);
      await this.deps.editor.updateMetadata(id.uuid, (metadata) => ({
        ...metadata,
        snapshots: metadata.snapshots.map((one) => (one.name === name ? { ...one, isDeleting: true } : one)),
      }));
    });
    return { remaining: (report) => this.deps.holds.run(id, () => this.deps.merger.clean(id.uuid, report)) };
  }

  override async stateOf(ref: InstanceRef, operation: SnapshotOperation): Promise<OperationState> {
    const { uuid } = await this.deps.finder.find(ref);
    const { description, isActive } = await this.deps.editor.read(uuid);
    const { pending, lastOperation, snapshots } = description.metadata;
    const snapshot = snapshots.find(({ name }) => name === operation.snapshot);
    if (operation.kind === 'delete') {
      if (!snapshot) return { state: 'done' };
      return { state: snapshot.isDeleting ? 'running' : 'absent' };
    }
    if (pending?.operation === operation.id) return { state: 'running' };
    if (lastOperation !== operation.id) return { state: 'absent' };
    // Memory is not restored after an interruption, because the disks may have changed since.
    const isStarted =
      operation.kind === 'create' || !operation.wasRunning || isActive || snapshot?.memory !== undefined;
    return { state: isStarted ? 'done' : 'running' };
  }

  /** The change of an earlier process is completed or undone first; a restore that was undone begins again. */
  override async resume(ref: InstanceRef, operation: SnapshotOperation): Promise<BackgroundWork> {
    const { finder, holds, merger } = this.deps;
    const id = await finder.find(ref);
    const { kind, snapshot, ...key } = operation;
    return async (report) => {
      report.waitsFor?.('the interrupted change of the disks to be completed or undone');
      await this.settleInterrupted(id, report);
      const { state } = await this.stateOf(ref, operation);
      if (kind !== 'create') await this.whenFree(id, () => merger.clean(id.uuid, report));
      if (state === 'done' || kind === 'delete') return;
      if (state === 'running') return this.start(id, report);
      if (kind === 'restore') return (await this.restore(ref, snapshot, key))(report);
      holds.expectFree(id);
      throw new DomainError(
        'BACKEND_FAILED',
        `The snapshot ${snapshot} was interrupted and undone; ${id.name} is as before.`,
      );
    };
  }

  override async discard(ref: InstanceRef, operation: SnapshotOperation): Promise<void> {
    const { kind, snapshot } = operation;
    const before = (await this.stateOf(ref, operation)).state;
    if (kind === 'delete' || before !== 'running') return;
    const id = await this.deps.finder.find(ref);
    await this.settleInterrupted(id, SILENT_REPORTER);
    if ((await this.stateOf(ref, operation)).state === 'absent') return;
    if (kind === 'restore')
      throw new DomainError(
        'WRONG_STATE',
        `The disks of ${id.name} were replaced already: it has the content of ${snapshot}.`,
      );
    const { remaining } = await this.delete(ref, snapshot);
    await remaining?.(SILENT_REPORTER);
  }

  /** Completes or undoes the change of an earlier process, unless the recovery of this one does. */
  private settleInterrupted(id: DomainId, report: TaskReporter): Promise<void> {
    return this.whenFree(id, () => this.deps.lock.run(id.uuid, () => this.settle(id.uuid, 'interrupted', report)));
  }

  private async whenFree<T>(id: DomainId, work: () => Promise<T>): Promise<T> {
    const { holds } = this.deps;
    while (holds.has(id.uuid)) await holds.whenFree(id.uuid);
    return holds.run(id, work);
  }

  private async start({ uuid }: DomainId, report: TaskReporter): Promise<void> {
    report.step(PARTS.start);
    await startDomain(this.deps.connection.domains, uuid);
  }

  /**
   * Completes or undoes a change that the end of an earlier run has interrupted, and merges the layers that it left.
   */
  recover({ uuid, name, metadata }: DomainDescription): void {
    const { pending } = metadata;
    // Their own abilities complete or undo them.
    if (pending && LEFT_TO_OTHERS.includes(pending.kind)) return;
    const isInterrupted = pending !== undefined && pending.service === this.deps.service();
    if (metadata.owner !== uuid || (pending !== undefined && !isInterrupted)) return;
    if (this.deps.holds.has(uuid) || (!isInterrupted && !hasUnneededLayers(metadata))) return;
    const work = this.recoverySlots
      .run(() =>
        this.deps.holds.run({ uuid, name }, async () => {
          await this.deps.lock.run(uuid, () => this.settle(uuid, 'interrupted'));
          await this.deps.merger.clean(uuid, SILENT_REPORTER);
        }),
      )
      .catch((error: unknown) =>
        this.deps.log.warn({ domain: name, reason: messageOf(error) }, 'a change of disks could not be recovered'),
      );
    this.recoveries.add(work);
    void work.finally(() => this.recoveries.delete(work));
  }

  /** Resolves when no recovery runs. */
  async close(): Promise<void> {
    await Promise.all(this.recoveries);
  }

  private async take(
    { domain, found }: Prepared,
    { name: snapshot, memory: hasMemory = false }: SnapshotRequest,
    { report, key }: KeyedReport,
  ): Promise<void> {
    const { editor, pool, tpm, log } = this.deps;
    const { description, isActive } = domain;
    const { uuid, name } = description;
    const overlays = found.disks.map(({ target, name: base }) => ({
      target,
      base,
      replaced: base,
      name: this.changes.freshName(name, uuid, '.qcow2'),
    }));
    const nvram = found.nvram !== undefined && (await this.hasVolume(found.nvram)) ? found.nvram : undefined;
    const hasTpm = found.hasTpm && (await tpm.exists(uuid));
    const state = {
      ...(nvram !== undefined && { nvram: this.changes.freshName(name, uuid, '-nvram.fd') }),
      ...(hasTpm && { tpm: this.changes.freshName(name, uuid, '-tpm.state') }),
      ...(hasMemory && { memory: this.changes.freshName(name, uuid, '.memory') }),
    };
    const pending = await this.changes.begin(
      uuid,
      { kind: 'snapshot', snapshot, wasRunning: isActive, disks: overlays, ...state, ...operationOf(key) },
      [
        ...overlays.map((overlay) => ({ name: overlay.name, role: 'disk' as const })),
        ...Object.values(state).map((volume) => ({ name: volume, role: 'state' as const })),
      ],
    );
    const completed = (metadata: InstanceMetadata): InstanceMetadata => withSnapshot(metadata, pending);
    try {
      await this.changes.createOverlays(overlays);
      if (nvram !== undefined && state.nvram !== undefined) await pool.copy(state.nvram, nvram);
      if (state.tpm !== undefined) await pool.createFrom(state.tpm, tpm.pathOf(uuid));
      if (state.memory !== undefined) await this.saveMemory(domain, found, { overlays, memory: state.memory, report });
      else if (isActive) await this.switchRunning(domain, found, overlays);
      else await this.changes.redefine(uuid, { disks: overlays, metadata: completed });
    } catch (error) {
      await this.settle(uuid, 'failed');
      throw report.signal.aborted ? report.signal.reason : error;
    }
    if (isActive) await editor.updateMetadata(uuid, completed);
    log.info({ domain: name, snapshot }, 'created a snapshot');
  }

  /** libvirt saves the memory and switches the disks at the same moment, at the end. */
  private async saveMemory(
    { description: { uuid } }: EditableDomain,
    { others }: FoundDisks,
    { overlays, memory, report }: SavedMemory,
  ): Promise<void> {
    const { connection, pool, clock } = this.deps;
    const folder = await pool.path();
    const paths = overlays.map((one) => ({ target: one.target, path: `${folder}/${one.name}` }));
    report.step(PARTS.saveMemory);
    report.signal.throwIfAborted();
    const stop = followJob(uuid, report, { jobs: connection.jobs, clock });
    try {
      const change = { overlays: paths, others, quiesce: false, memory: `${folder}/${memory}` };
      await connection.blocks.switchToOverlays(uuid, change);
    } finally {
      await stop();
    }
    await pool.volumes();
  }

  /**
   * An agent that does not freeze the file systems does not prevent the snapshot, which then is like after a power
   * failure.
   */
  private async switchRunning(
    { description }: EditableDomain,
    { others }: FoundDisks,
    overlays: readonly { readonly target: string; readonly name: string }[],
  ): Promise<void> {
    const { connection, pool, log } = this.deps;
    const { uuid, name } = description;
    const folder = await pool.path();
    const change = { overlays: overlays.map((one) => ({ target: one.target, path: `${folder}/${one.name}` })), others };
    if (description.agent === 'connected') {
      try {
        return await connection.blocks.switchToOverlays(uuid, { ...change, quiesce: true });
      } catch (error) {
        if (!DomainError.is(error, 'GUEST_AGENT_UNREACHABLE', 'NOT_SUPPORTED', 'BACKEND_FAILED', 'BACKEND_TIMEOUT'))
          throw error;
        log.warn({ domain: name, reason: messageOf(error) }, 'the guest did not freeze its file systems');
        // The switch itself may have happened.
        if (this.changes.uses(await this.deps.editor.read(uuid), folder, overlays)) return;
      }
    }
    await connection.blocks.switchToOverlays(uuid, { ...change, quiesce: false });
  }

  private async revert(
    { domain, found, snapshot }: Prepared & { readonly snapshot: SnapshotRecord },
    { report, key }: KeyedReport,
  ): Promise<void> {
    const { connection, pool } = this.deps;
    const { description, isActive } = domain;
    const { uuid, name } = description;
    const present = new Map(found.disks.map((disk) => [disk.target, disk.name]));
    const overlays = snapshot.disks.map(({ target, name: base }) => ({
      target,
      base,
      replaced: present.get(target) ?? '',
      name: this.changes.freshName(name, uuid, '.qcow2'),
    }));
    const nvram =
      snapshot.nvram !== undefined && found.nvram !== undefined
        ? { nvram: this.changes.freshName(name, uuid, '-nvram.fd') }
        : {};
    await this.changes.begin(
      uuid,
      {
        kind: 'restore',
        snapshot: snapshot.name,
        ...operationOf(key),
        wasRunning: key?.wasRunning ?? isActive,
        disks: overlays,
        ...nvram,
        ...(snapshot.tpm !== undefined && { tpm: snapshot.tpm }),
        ...(snapshot.memory !== undefined && { memory: snapshot.memory }),
      },
      [
        ...overlays.map((overlay) => ({ name: overlay.name, role: 'disk' as const })),
        ...Object.values(nvram).map((volume) => ({ name: volume, role: 'nvram' as const })),
      ],
    );
    try {
      report.step('Preparing the disks');
      await this.changes.createOverlays(overlays);
      if (nvram.nvram !== undefined && snapshot.nvram !== undefined) await pool.copy(nvram.nvram, snapshot.nvram);
      if (isActive) {
        report.step(PARTS.stop);
        await connection.domains.destroy(uuid).catch(ignoreStopped);
      }
      await report.commit?.(`The disks of ${name} are replaced.`);
      report.step(PARTS.restoreDisks);
      await this.changes.redefine(uuid, { disks: overlays, ...nvram, metadata: (metadata) => metadata });
    } catch (error) {
      await this.settle(uuid, 'failed');
      throw error;
    }
    await this.settle(uuid, 'completed', report);
  }

  /** Completes a pending change whose disks were switched, and undoes any other. */
  private async settle(
    uuid: string,
    cause: 'completed' | 'failed' | 'interrupted',
    report: TaskReporter = SILENT_REPORTER,
  ): Promise<void> {
    const { connection, clock, editor, pool, log, merger } = this.deps;
    const before = (await editor.read(uuid)).description.metadata.pending;
    // A service that was killed has left libvirt saving the memory.
    if (before?.kind === 'snapshot' && before.memory !== undefined)
      await endJob(uuid, { jobs: connection.jobs, clock });
    const domain = await editor.read(uuid);
    const { description, isActive } = domain;
    const { name, metadata } = description;
    const { pending } = metadata;
    if (!pending) return;
    if (pending.kind === 'merge') return merger.settle(uuid, pending);
    if (pending.kind === 'disk-restore' || pending.kind === 'backup-restore') return;
    const isSwitched = this.changes.uses(domain, await pool.path(), pending.disks);
    if (cause === 'interrupted')
      log.warn(
        { domain: name, snapshot: pending.snapshot },
        `an interrupted ${pending.kind} was ${isSwitched ? 'completed' : 'undone'}`,
      );
    if (!isSwitched) {
      await this.changes.undo(uuid, volumesOf(pending));
    } else if (pending.kind === 'snapshot') {
      await editor.updateMetadata(uuid, (current) => withSnapshot(current, pending));
    } else if (pending.kind === 'restore') {
      if (pending.tpm !== undefined) await this.deps.tpm.replace(uuid, `${await pool.path()}/${pending.tpm}`);
      await editor.updateMetadata(uuid, (current) => withRestored(current, pending));
    }
    if (pending.kind !== 'restore' || isActive) return;
    if (pending.memory !== undefined && isSwitched) {
      // The disks may have changed since an interruption, for example because the host has started the VM.
      if (cause === 'completed') await this.resumeMemory(domain, pending, report);
    } else if (pending.wasRunning) {
      report.step(PARTS.start);
      await startDomain(connection.domains, uuid);
    }
  }

  /** Starts a stopped domain with the memory of a snapshot, and with the devices that it had then. */
  private async resumeMemory(
    { description }: EditableDomain,
    pending: PendingChange,
    report: TaskReporter,
  ): Promise<void> {
    const { connection, editor, pool } = this.deps;
    const { uuid, name } = description;
    const folder = await pool.path();
    const path = `${folder}/${pending.memory}`;
    report.step(PARTS.restoreMemory);
    try {
      const saved = await connection.savedMemory.xml(path);
      const { metadata } = (await editor.read(uuid)).description;
      const xml = editDomainXml(saved, {
        disks: new Map(pending.disks.map((disk) => [disk.target, `${folder}/${disk.name}`])),
        media: presentMedia(describeDomain(saved), description),
        metadata,
        ...(pending.nvram !== undefined && { nvram: `${folder}/${pending.nvram}` }),
      });
      await connection.savedMemory.restore(path, xml);
    } catch (cause) {
      throw new DomainError(
        'BACKEND_FAILED',
        `The disks of ${name} were restored, but its memory was not, so it is stopped: ${messageOf(cause)}`,
        { cause },
      );
    }
  }

  private async hasVolume(name: string): Promise<boolean> {
    return (await this.deps.pool.volumes()).includes(name);
  }
}

function ignoreStopped(error: unknown): void {
  if (!DomainError.is(error, 'WRONG_STATE')) throw error;
}

/** Layers that a deleted snapshot or an interrupted change has left. Those that clones share are among them. */
function hasUnneededLayers({ volumes, snapshots }: InstanceMetadata): boolean {
  if (snapshots.some(({ isDeleting }) => isDeleting)) return true;
  const needed = new Set(snapshots.flatMap(({ disks }) => disks.map(({ name }) => name)));
  return volumes.some(({ role, name }) => role === 'layer' && !needed.has(name));
}

function presentSnapshots(metadata: InstanceMetadata, uuid: string): Snapshot[] {
  if (metadata.owner !== uuid) return [];
  const { pending, snapshots } = metadata;
  const present = snapshots.map(({ name, createdAt, isDeleting, memory }): Snapshot => ({
    name,
    phase: isDeleting ? 'Deleting' : 'Succeeded',
    creationTime: createdAt,
    ready: !isDeleting && pending === undefined,
    ...(memory !== undefined && { memory: true }),
  }));
  if (pending?.kind === 'snapshot')
    present.push({ name: pending.snapshot, phase: 'InProgress', creationTime: pending.startedAt, ready: false });
  return present;
}

/** The overlays are the disks now, and the volumes below them are the snapshot. */
function withSnapshot(
  { pending: _done, ...metadata }: InstanceMetadata,
  { snapshot, startedAt, disks, nvram, tpm, memory, operation }: PendingChange,
): InstanceMetadata {
  const record: SnapshotRecord = {
    name: snapshot,
    createdAt: startedAt,
    isDeleting: false,
    disks: disks.map(({ target, replaced }) => ({ target, name: replaced })),
    ...(nvram !== undefined && { nvram }),
    ...(tpm !== undefined && { tpm }),
    ...(memory !== undefined && { memory }),
  };
  return {
    ...metadata,
    volumes: withRole(metadata.volumes, new Set(disks.map(({ replaced }) => replaced)), 'layer'),
    snapshots: [...metadata.snapshots, record],
    ...completedBy(operation),
  };
}

/**
 * The overlays are the disks now. The volumes that they replace are removed afterwards, unless a snapshot needs them.
 */
function withRestored(
  { pending: _done, ...metadata }: InstanceMetadata,
  { disks, nvram, operation }: PendingChange,
): InstanceMetadata {
  const variables = metadata.volumes.filter(
    ({ role, name }) => role === 'nvram' && nvram !== undefined && name !== nvram,
  );
  const replaced = [...disks.map((disk) => disk.replaced), ...variables.map(({ name }) => name)];
  return {
    ...metadata,
    volumes: withRole(metadata.volumes, new Set(replaced), 'layer'),
    ...completedBy(operation),
  };
}

/** Changes that other parts complete or undo. */
const LEFT_TO_OTHERS: readonly PendingChange['kind'][] = ['migration', 'move', 'disk-restore', 'backup-restore'];

interface KeyedReport {
  readonly report: TaskReporter;
  readonly key: OperationKey | undefined;
}

const operationOf = (key: OperationKey | undefined): Pick<PendingChange, 'operation'> =>
  key ? { operation: key.id } : {};

const completedBy = (operation: string | undefined): Pick<InstanceMetadata, 'lastOperation'> =>
  operation === undefined ? {} : { lastOperation: operation };

interface SavedMemory {
  readonly overlays: readonly DiskVolume[];
  /** Name of the volume. */
  readonly memory: string;
  readonly report: TaskReporter;
}

/** The media that are in the drives now: those of the time of the snapshot may be gone. */
const presentMedia = (saved: DomainDescription, present: DomainDescription): Map<string, string | undefined> =>
  new Map(
    saved.disks
      .filter(({ device }) => device === 'cdrom' || device === 'floppy')
      .map(({ target }) => [target, present.disks.find((disk) => disk.target === target)?.path]),
  );
