import {
  buildPlan,
  DomainError,
  formatBytes,
  InstanceSnapshots,
  messageOf,
  throwFirstRefusal,
  type AcceptedSnapshotWork,
  type BackgroundWork,
  type InstanceRef,
  type Plan,
  type PlanStep,
  type Refusal,
  type Snapshot,
  type SnapshotRequest,
  type TaskReporter,
} from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { InstanceMetadata } from '../domain-xml/instance-metadata.js';
import type { PendingChange, SnapshotRecord } from '../domain-xml/snapshot-metadata.js';
import type { DomainFinder, DomainId } from '../domains/domain-finder.js';
import type { EditableDomain } from '../provisioning/domain-editor.js';
import { SPACE_WATERMARK_BYTES } from '../fetching/limits.js';
import { Slots } from '../virsh/concurrency.js';
import { DiskChanges, volumesOf, withRole, type DiskChangesDeps } from './disk-changes.js';
import { busyRefusal, type DiskHolds } from './disk-holds.js';
import type { LayerMerger } from './layer-merger.js';
import { findDisks, type FoundDisks } from './snapshot-disks.js';
import type { TpmState } from './tpm-state.js';

export interface LibvirtSnapshotsDeps extends DiskChangesDeps {
  readonly finder: DomainFinder;
  readonly merger: LayerMerger;
  readonly tpm: TpmState;
  readonly holds: DiskHolds;
}

/** libvirt itself supports chains of 200 files, and every file takes memory and time. */
const MAX_SNAPSHOTS = 64;
const START_TIMEOUT_MS = 90_000;
const NO_MEMORY = 'libvirt contexts save disks, firmware variables and the TPM, but not the memory of the guest.';

interface Prepared {
  readonly domain: EditableDomain;
  readonly found: FoundDisks;
  readonly plan: Plan;
}

/**
 * Snapshots as layers of qcow2 files. A snapshot freezes the present files of the disks and puts overlays on top; restoring it puts
 * new overlays on the frozen files. The metadata of the domain lists the snapshots.
 */
export class LibvirtSnapshots extends InstanceSnapshots {
  private readonly changes: DiskChanges;
  private readonly recoveries = new Set<Promise<void>>();
  private readonly recoverySlots = new Slots(1);

  constructor(private readonly deps: LibvirtSnapshotsDeps) {
    super();
    this.changes = new DiskChanges(deps);
  }

  override async list(ref: InstanceRef): Promise<readonly Snapshot[]> {
    const { uuid } = await this.deps.finder.find(ref);
    const { description } = await this.deps.editor.read(uuid);
    return presentSnapshots(description.metadata, description.uuid);
  }

  override async planCreate(ref: InstanceRef, request: SnapshotRequest): Promise<Plan> {
    return (await this.prepareCreate(await this.deps.finder.find(ref), request)).plan;
  }

  override async create(ref: InstanceRef, request: SnapshotRequest): Promise<AcceptedSnapshotWork> {
    const id = await this.deps.finder.find(ref);
    await this.deps.holds.run(id, () =>
      this.deps.lock.run(id.uuid, async () => {
        const prepared = await this.prepareCreate(id, request, true);
        throwFirstRefusal(prepared.plan);
        await this.take(prepared, request.name);
      }),
    );
    return {};
  }

  override async planRestore(ref: InstanceRef, name: string): Promise<Plan> {
    return (await this.prepareRestore(await this.deps.finder.find(ref), name)).plan;
  }

  override async restore(ref: InstanceRef, name: string): Promise<BackgroundWork> {
    const id = await this.deps.finder.find(ref);
    throwFirstRefusal((await this.prepareRestore(id, name)).plan);
    this.deps.holds.expectFree(id);
    return (report) =>
      this.deps.holds.run(id, async () => {
        await this.deps.lock.run(id.uuid, async () => {
          const prepared = await this.prepareRestore(id, name, true);
          throwFirstRefusal(prepared.plan);
          await this.revert(prepared, report);
        });
        await this.deps.merger.clean(id.uuid, report);
      });
  }

  override async planDelete(ref: InstanceRef, name: string): Promise<Plan> {
    return (await this.prepareDelete(await this.deps.finder.find(ref), name)).plan;
  }

  override async delete(ref: InstanceRef, name: string): Promise<AcceptedSnapshotWork> {
    const id = await this.deps.finder.find(ref);
    this.deps.holds.expectFree(id);
    await this.deps.lock.run(id.uuid, async () => {
      throwFirstRefusal((await this.prepareDelete(id, name)).plan);
      await this.deps.editor.updateMetadata(id.uuid, (metadata) => ({
        ...metadata,
        snapshots: metadata.snapshots.map((one) => (one.name === name ? { ...one, isDeleting: true } : one)),
      }));
    });
    return { remaining: (report) => this.deps.holds.run(id, () => this.deps.merger.clean(id.uuid, report)) };
  }

  /** Completes or undoes a change that the end of an earlier run has interrupted, and merges the layers that it left. */
  recover({ uuid, name, metadata }: DomainDescription): void {
    const { pending } = metadata;
    const isInterrupted = pending !== undefined && pending.service === this.deps.service();
    if (metadata.owner !== uuid || (pending !== undefined && !isInterrupted)) return;
    if (this.deps.holds.has(uuid) || (!isInterrupted && !hasUnneededLayers(metadata))) return;
    const work = this.recoverySlots
      .run(() =>
        this.deps.holds.run({ uuid, name }, async () => {
          await this.deps.lock.run(uuid, () => this.settle(uuid, 'interrupted'));
          await this.deps.merger.clean(uuid, SILENT_REPORT);
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

  private async prepareCreate(
    id: DomainId,
    { name, memory = false }: SnapshotRequest,
    isHolder = false,
  ): Promise<Prepared> {
    const prepared = await this.inspect(id, isHolder);
    const { domain, found } = prepared;
    const { snapshots } = domain.description.metadata;
    const refusals: Refusal[] = [...prepared.plan.refusals];
    if (snapshots.some((one) => one.name === name))
      refusals.push({
        code: 'ALREADY_EXISTS',
        reason: `${id.name} already has a snapshot ${name}.`,
        remedy: 'Choose another name.',
      });
    if (snapshots.length >= MAX_SNAPSHOTS)
      refusals.push({
        code: 'WRONG_STATE',
        reason: `${id.name} has ${MAX_SNAPSHOTS} snapshots already, and more would make its disks slow.`,
        remedy: 'Delete some of its snapshots first.',
      });
    if (memory) refusals.push({ code: 'NOT_SUPPORTED', reason: NO_MEMORY, remedy: 'Omit memory.' });
    const { warnings, refusals: noSpace } = await this.checkSpace(found);
    const steps = [
      ...found.disks.map(({ target }) => ({ name: 'overlay', detail: `Create an overlay for the disk ${target}.` })),
      ...this.stateSteps(found),
      {
        name: 'switch',
        detail: domain.isActive
          ? `Let the running guest write to the overlays${domain.description.agent === 'connected' ? ', with its file systems frozen for that moment' : ''}.`
          : 'Let the VM use the overlays.',
      },
    ];
    return { ...prepared, plan: buildPlan(steps, { warnings, refusals: [...refusals, ...noSpace] }) };
  }

  private async prepareRestore(
    id: DomainId,
    name: string,
    isHolder = false,
  ): Promise<Prepared & { readonly snapshot: SnapshotRecord }> {
    const prepared = await this.inspect(id, isHolder);
    const { domain, found } = prepared;
    const snapshot = this.find(domain, id, name);
    const refusals: Refusal[] = [...prepared.plan.refusals];
    const targets = new Set(found.disks.map(({ target }) => target));
    const missing = snapshot.disks.filter(({ target }) => !targets.has(target)).map(({ target }) => target);
    if (snapshot.isDeleting)
      refusals.push({
        code: 'WRONG_STATE',
        reason: `The snapshot ${name} is being deleted.`,
        remedy: 'Choose another snapshot.',
      });
    if (missing.length > 0)
      refusals.push({
        code: 'WRONG_STATE',
        reason: `${id.name} no longer has the disks ${missing.join(', ')} of the snapshot.`,
        remedy: 'Add the disks again, or delete the snapshot.',
      });
    const kept = [...targets].filter((target) => !snapshot.disks.some((disk) => disk.target === target));
    const { warnings, refusals: noSpace } = await this.checkSpace({ ...found, disks: snapshot.disks });
    const steps: PlanStep[] = [
      ...(domain.isActive ? [{ name: 'stop', detail: `Force stop ${id.name}.` }] : []),
      ...snapshot.disks.map(({ target }) => ({
        name: 'overlay',
        detail: `Create an overlay on the saved content of the disk ${target}.`,
      })),
      ...(snapshot.nvram === undefined ? [] : [{ name: 'nvram', detail: 'Restore the variables of the firmware.' }]),
      ...(snapshot.tpm === undefined ? [] : [{ name: 'tpm', detail: 'Restore the state of the TPM.' }]),
      { name: 'switch', detail: 'Let the VM use the overlays, and remove the content since the last snapshot.' },
      ...(domain.isActive ? [{ name: 'start', detail: `Start ${id.name}.` }] : []),
    ];
    const extra = kept.map((target) => `The disk ${target} is not part of the snapshot and stays as it is.`);
    const plan = buildPlan(steps, { warnings: [...warnings, ...extra], refusals: [...refusals, ...noSpace] });
    return { domain, found, snapshot, plan };
  }

  private async prepareDelete(id: DomainId, name: string, isHolder = false): Promise<Prepared> {
    const prepared = await this.inspect(id, isHolder);
    // Deleting needs no free space, and the disks may have changed since.
    const refusals = prepared.plan.refusals.filter(({ code }) => code !== 'NOT_SUPPORTED');
    const { disks } = this.find(prepared.domain, id, name);
    const steps = [
      ...disks.map(({ target }) => ({
        name: 'merge',
        detail: `Merge the layer of the disk ${target} with the layer above it, or keep it while other content needs it.`,
      })),
      { name: 'forget', detail: `Remove the snapshot ${name} from the list.` },
    ];
    const warnings = this.deps.merger.canMergeStopped || prepared.domain.isActive ? [] : [LATER];
    return { ...prepared, plan: buildPlan(steps, { warnings, refusals }) };
  }

  /** The checks of all changes. @param isHolder whether the caller keeps other changes of the disks away */
  private async inspect(id: DomainId, isHolder: boolean): Promise<Prepared> {
    const { editor, pool, tpm } = this.deps;
    const domain = await editor.read(id.uuid);
    const { provisioning, failure, pending } = domain.description.metadata;
    const found = findDisks(domain, await pool.path().catch(() => ''));
    const refusals: Refusal[] = [...found.refusals];
    if (provisioning !== undefined)
      refusals.unshift({
        code: 'BUSY',
        reason: `${id.name} is still being created.`,
        remedy: 'Wait until its disk is ready.',
      });
    else if (failure !== undefined)
      refusals.unshift({ code: 'WRONG_STATE', reason: `${id.name} has no disk: ${failure}`, remedy: 'Delete it.' });
    if (pending !== undefined || (this.deps.holds.has(id.uuid) && !isHolder)) refusals.unshift(busyRefusal(id.name));
    const noTpm = found.hasTpm ? tpm.refusal() : undefined;
    if (noTpm !== undefined)
      refusals.push({
        code: 'NOT_SUPPORTED',
        reason: `${id.name} can't be saved: ${noTpm}.`,
        remedy: 'Run the service as root on that machine.',
      });
    return { domain, found, plan: buildPlan([], { refusals }) };
  }

  private async take({ domain, found }: Prepared, snapshot: string): Promise<void> {
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
    };
    const pending = await this.changes.begin(
      uuid,
      { kind: 'snapshot', snapshot, wasRunning: isActive, disks: overlays, ...state },
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
      if (isActive) await this.switchRunning(domain, found, overlays);
      else await this.changes.redefine(uuid, { disks: overlays, metadata: completed });
    } catch (error) {
      await this.settle(uuid, 'failed');
      throw error;
    }
    if (isActive) await editor.updateMetadata(uuid, completed);
    log.info({ domain: name, snapshot }, 'created a snapshot');
  }

  /** An agent that does not freeze the file systems does not prevent the snapshot, which then is like after a power failure. */
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
    report: TaskReporter,
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
        wasRunning: isActive,
        disks: overlays,
        ...nvram,
        ...(snapshot.tpm !== undefined && { tpm: snapshot.tpm }),
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
        report.step('Stopping the VM');
        await connection.domains.destroy(uuid).catch(ignoreStopped);
      }
      report.step('Restoring the disks');
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
    report: TaskReporter = SILENT_REPORT,
  ): Promise<void> {
    const { editor, pool, log, merger } = this.deps;
    const domain = await editor.read(uuid);
    const { description, isActive } = domain;
    const { name, metadata } = description;
    const { pending } = metadata;
    if (!pending) return;
    if (pending.kind === 'merge') return merger.settle(uuid, pending);
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
    if (pending.kind === 'restore' && pending.wasRunning && !isActive) {
      report.step('Starting the VM');
      await this.deps.connection.domains.start(uuid, { timeoutMs: START_TIMEOUT_MS });
    }
  }

  private find(
    { description: { metadata, uuid } }: EditableDomain,
    { name }: DomainId,
    snapshot: string,
  ): SnapshotRecord {
    const found = metadata.owner === uuid ? metadata.snapshots.find((one) => one.name === snapshot) : undefined;
    if (!found) throw new DomainError('SNAPSHOT_NOT_FOUND', `${name} has no snapshot ${snapshot}.`);
    return found;
  }

  /** The overlays are empty at first. They may grow to the size of the disks. */
  private async checkSpace({ disks }: Pick<FoundDisks, 'disks'>): Promise<Pick<Plan, 'warnings' | 'refusals'>> {
    const { pool } = this.deps;
    const state = await pool.state();
    if (!state?.isActive) return { warnings: [], refusals: [] };
    if (state.availableBytes < SPACE_WATERMARK_BYTES) {
      const reason = `The storage pool ${pool.name} has only ${formatBytes(state.availableBytes)} free.`;
      const remedy = 'Free some space on this machine, for example by deleting snapshots.';
      return { warnings: [], refusals: [{ code: 'INSUFFICIENT_STORAGE', reason, remedy }] };
    }
    const sizes = await Promise.all(disks.map(async ({ name }) => (await pool.describe(name)).bytes));
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    if (total <= state.availableBytes) return { warnings: [], refusals: [] };
    const warning = `The disks may grow by ${formatBytes(total)}, which is more than the free space in the storage pool.`;
    return { warnings: [warning], refusals: [] };
  }

  private stateSteps({ nvram, hasTpm }: FoundDisks): PlanStep[] {
    return [
      ...(nvram === undefined ? [] : [{ name: 'nvram', detail: 'Copy the variables of the firmware.' }]),
      ...(hasTpm ? [{ name: 'tpm', detail: 'Copy the state of the TPM.' }] : []),
    ];
  }

  private async hasVolume(name: string): Promise<boolean> {
    return (await this.deps.pool.volumes()).includes(name);
  }
}

const LATER = 'The layers of a stopped VM on another machine are merged when a snapshot is deleted while it runs.';

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
  const present = snapshots.map(({ name, createdAt, isDeleting }): Snapshot => ({
    name,
    phase: isDeleting ? 'Deleting' : 'Succeeded',
    creationTime: createdAt,
    ready: !isDeleting && pending === undefined,
  }));
  if (pending?.kind === 'snapshot')
    present.push({ name: pending.snapshot, phase: 'InProgress', creationTime: pending.startedAt, ready: false });
  return present;
}

/** The overlays are the disks now, and the volumes below them are the snapshot. */
function withSnapshot(
  { pending: _done, ...metadata }: InstanceMetadata,
  { snapshot, startedAt, disks, nvram, tpm }: PendingChange,
): InstanceMetadata {
  const record: SnapshotRecord = {
    name: snapshot,
    createdAt: startedAt,
    isDeleting: false,
    disks: disks.map(({ target, replaced }) => ({ target, name: replaced })),
    ...(nvram !== undefined && { nvram }),
    ...(tpm !== undefined && { tpm }),
  };
  return {
    ...metadata,
    volumes: withRole(metadata.volumes, new Set(disks.map(({ replaced }) => replaced)), 'layer'),
    snapshots: [...metadata.snapshots, record],
  };
}

/** The overlays are the disks now. The volumes that they replace are removed afterwards, unless a snapshot needs them. */
function withRestored(
  { pending: _done, ...metadata }: InstanceMetadata,
  { disks, nvram }: PendingChange,
): InstanceMetadata {
  const variables = metadata.volumes.filter(
    ({ role, name }) => role === 'nvram' && nvram !== undefined && name !== nvram,
  );
  const replaced = [...disks.map((disk) => disk.replaced), ...variables.map(({ name }) => name)];
  return { ...metadata, volumes: withRole(metadata.volumes, new Set(replaced), 'layer') };
}

const SILENT_REPORT: TaskReporter = {
  step: () => undefined,
  log: () => undefined,
  progress: () => undefined,
  signal: new AbortController().signal,
};
