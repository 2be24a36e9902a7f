import {
  DomainError,
  buildPlan,
  formatBytes,
  type Plan,
  type PlanStep,
  type Refusal,
  type SnapshotRequest,
} from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import type { SnapshotRecord } from '../domain-xml/snapshot-metadata.js';
import type { DomainId } from '../domains/domain-finder.js';
import type { DomainEditor, EditableDomain } from '../domains/domain-editor.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { busyRefusal, type DiskHolds } from '../locks/disk-holds.js';
import type { LayerMerger } from './layer-merger.js';
import { memoryRefusals } from './memory-checks.js';
import { findDisks, type FoundDisks } from './snapshot-disks.js';
import type { TpmState } from './tpm-state.js';

/** libvirt itself supports chains of 200 files, and every file takes memory and time. */
const MAX_SNAPSHOTS = 64;

/** The parts of the tasks that are steps of their plans, too. */
export const PARTS = {
  saveMemory: 'Saving the memory',
  stop: 'Stopping the VM',
  restoreDisks: 'Restoring the disks',
  start: 'Starting the VM',
  restoreMemory: 'Restoring the memory',
} as const;

export interface SnapshotPlansDeps {
  readonly editor: DomainEditor;
  readonly pool: StoragePool;
  readonly tpm: TpmState;
  readonly holds: DiskHolds;
  readonly merger: Pick<LayerMerger, 'canMergeStopped'>;
}

/** A change that was checked, with its plan. */
export interface Prepared {
  readonly domain: EditableDomain;
  readonly found: FoundDisks;
  readonly plan: Plan;
}

/** The checks of all changes of snapshots. They change nothing. */
export class SnapshotPlans {
  constructor(private readonly deps: SnapshotPlansDeps) {}

  async prepareCreate(id: DomainId, { name, memory = false }: SnapshotRequest, isHolder = false): Promise<Prepared> {
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
    if (memory) refusals.push(...memoryRefusals(domain, found.others, await this.deps.pool.space()));
    const { warnings, refusals: noSpace } = await this.checkSpace(found);
    const steps = [
      ...found.disks.map(({ target }) => ({ name: 'overlay', detail: `Create an overlay for the disk ${target}.` })),
      ...this.stateSteps(found),
      ...(memory
        ? [
            {
              name: 'memory',
              detail: `Save the memory of the guest, up to ${formatBytes(domain.description.memoryBytes)}.`,
              reportedAs: [PARTS.saveMemory],
            },
          ]
        : []),
      {
        name: 'switch',
        detail: domain.isActive
          ? `Let the running guest write to the overlays${domain.description.agent === 'connected' && !memory ? ', with its file systems frozen for that moment' : ''}.`
          : 'Let the VM use the overlays.',
      },
    ];
    return { ...prepared, plan: buildPlan(steps, { warnings, refusals: [...refusals, ...noSpace] }) };
  }

  async prepareRestore(
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
      ...(domain.isActive ? [{ name: 'stop', detail: `Force stop ${id.name}.`, reportedAs: [PARTS.stop] }] : []),
      ...snapshot.disks.map(({ target }) => ({
        name: 'overlay',
        detail: `Create an overlay on the saved content of the disk ${target}.`,
      })),
      ...(snapshot.nvram === undefined ? [] : [{ name: 'nvram', detail: 'Restore the variables of the firmware.' }]),
      ...(snapshot.tpm === undefined ? [] : [{ name: 'tpm', detail: 'Restore the state of the TPM.' }]),
      {
        name: 'switch',
        detail: 'Let the VM use the overlays, and remove the content since the last snapshot.',
        reportedAs: [PARTS.restoreDisks],
      },
      ...(snapshot.memory === undefined
        ? domain.isActive
          ? [{ name: 'start', detail: `Start ${id.name}.`, reportedAs: [PARTS.start] }]
          : []
        : [
            {
              name: 'memory',
              detail: `Start ${id.name} with the saved memory, so that its guest continues there.`,
              reportedAs: [PARTS.restoreMemory],
            },
          ]),
    ];
    const extra = kept.map((target) => `The disk ${target} is not part of the snapshot and stays as it is.`);
    const plan = buildPlan(steps, { warnings: [...warnings, ...extra], refusals: [...refusals, ...noSpace] });
    return { domain, found, snapshot, plan };
  }

  async prepareDelete(id: DomainId, name: string, isHolder = false): Promise<Prepared> {
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
    const state = await pool.space();
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
}

const LATER = 'The layers of a stopped VM on another machine are merged when a snapshot is deleted while it runs.';
