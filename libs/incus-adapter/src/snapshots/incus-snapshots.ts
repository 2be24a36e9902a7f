import { randomUUID } from 'node:crypto';
import {
  DomainError,
  InstanceSnapshots,
  throwFirstRefusal,
  type AcceptedSnapshotWork,
  type BackgroundWork,
  type InstanceRef,
  type OperationKey,
  type OperationState,
  type Plan,
  type Snapshot,
  type SnapshotOperation,
  type SnapshotRequest,
} from '@headgate/domain-contracts';
import { snapshotNameOf } from '../engine/api-names.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { instanceNotFound } from '../engine/instance-finder.js';
import { markIn, markInstance, markOf } from '../engine/operation-mark.js';
import { isFrozen, isStopped, startContainer } from '../power/start-and-stop.js';
import { ownVolume } from '../provisioning/data-volume.js';
import { restoreSaved } from './restore-saved.js';
import { removeUnfinished, save } from './save.js';
import {
  deleteRootSnapshot,
  deleteVolumeSnapshot,
  findVolumeSnapshot,
  isPair,
  rootSnapshots,
} from './snapshot-objects.js';
import {
  creationPlan,
  deletionPlan,
  restorePlan,
  whyUnusable,
  type Saved,
  type SavedMoment,
} from './snapshot-plans.js';

/**
 * Snapshots of containers, with their data volumes: a snapshot of each under the same name. The mark of the creation in
 * both shows that they belong together. Those of other clients are of the root only.
 */
export class IncusSnapshots extends InstanceSnapshots {
  constructor(private readonly engine: IncusEngine) {
    super();
  }

  override async list(ref: InstanceRef): Promise<readonly Snapshot[]> {
    const { instance } = await this.find(ref);
    return (await rootSnapshots(this.engine.api, instance)).map((root) => {
      const reason = whyUnusable(root);
      return {
        name: snapshotNameOf(root.name),
        phase: 'Succeeded',
        creationTime: new Date(root.created_at).toISOString(),
        ready: reason === undefined,
        ...(reason !== undefined && { reason }),
      };
    });
  }

  override async planCreate(ref: InstanceRef, request: SnapshotRequest): Promise<Plan> {
    return this.planOf(await this.find(ref), request);
  }

  override async create(ref: InstanceRef, request: SnapshotRequest, key?: OperationKey): Promise<AcceptedSnapshotWork> {
    const saved = await this.find(ref);
    throwFirstRefusal(await this.planOf(saved, request));
    const mark = markOf('create', request.name, key?.id ?? randomUUID());
    await markInstance(this.engine.api, saved.instance, mark);
    return { remaining: (report) => save(this.engine, saved, { name: request.name, mark }, report) };
  }

  override async planRestore(ref: InstanceRef, name: string): Promise<Plan> {
    const saved = await this.find(ref);
    return restorePlan(saved, await this.moment(saved, name));
  }

  override async restore(ref: InstanceRef, name: string, key?: OperationKey): Promise<BackgroundWork> {
    const saved = await this.find(ref);
    const moment = await this.moment(saved, name);
    throwFirstRefusal(restorePlan(saved, moment));
    const { id, wasRunning } = key ?? { id: randomUUID(), wasRunning: !isStopped(saved.instance) };
    return (report) => restoreSaved(this.engine, saved, { ...moment, id, startsAgain: wasRunning }, report);
  }

  override async planDelete(ref: InstanceRef, name: string): Promise<Plan> {
    const saved = await this.find(ref);
    return deletionPlan(saved, await this.moment(saved, name));
  }

  override async delete(ref: InstanceRef, name: string): Promise<AcceptedSnapshotWork> {
    const { api } = this.engine;
    const saved = await this.find(ref);
    const moment = await this.moment(saved, name);
    throwFirstRefusal(deletionPlan(saved, moment));
    const { instance, volume } = saved;
    return {
      // That of the root is in the list: it is deleted last, so that a deletion that was interrupted can be repeated.
      remaining: async (report) => {
        report.step('delete');
        if (volume && moment.hasData) await deleteVolumeSnapshot(api, volume, moment.root.name);
        await deleteRootSnapshot(api, instance, moment.root.name);
      },
    };
  }

  override async stateOf(
    ref: InstanceRef,
    { kind, snapshot, id, wasRunning }: SnapshotOperation,
  ): Promise<OperationState> {
    const { instance } = await this.find(ref);
    const roots = await rootSnapshots(this.engine.api, instance);
    const root = roots.find(({ name }) => snapshotNameOf(name) === snapshot);
    const mark = markIn(instance);
    if (kind === 'delete') return { state: root ? 'absent' : 'done' };
    if (kind === 'create') {
      const own = markOf(kind, snapshot, id);
      if (mark === own) return { state: 'running' };
      return { state: root && markIn(root) === own ? 'done' : 'absent' };
    }
    if (mark === markOf('restore', snapshot, id)) return { state: 'running' };
    if (mark !== markOf('restored', snapshot, id)) return { state: 'absent' };
    return { state: wasRunning && isStopped(instance) ? 'running' : 'done' };
  }

  override async resume(ref: InstanceRef, operation: SnapshotOperation): Promise<BackgroundWork> {
    const { kind, snapshot: name, id, ...key } = operation;
    if (kind === 'restore') return this.restore(ref, name, { id, ...key });
    if (kind === 'delete') return (await this.delete(ref, name)).remaining ?? (async () => undefined);
    const saved = await this.find(ref);
    const unfinished = { name, mark: markOf('create', name, id) };
    return async (report) => {
      // The halves may be incomplete, if the server was killed as well.
      await removeUnfinished(this.engine, saved, unfinished);
      await this.thaw(ref, key.wasRunning);
      await save(this.engine, saved, unfinished, report);
    };
  }

  override async discard(ref: InstanceRef, operation: SnapshotOperation): Promise<void> {
    const { api } = this.engine;
    const { kind, snapshot: name, id, wasRunning } = operation;
    const saved = await this.find(ref);
    const { instance } = saved;
    const mark = markIn(instance);
    if (kind === 'create' && mark === markOf('create', name, id)) {
      await removeUnfinished(this.engine, saved, { name, mark });
      await markInstance(api, instance, '');
      await this.thaw(ref, wasRunning);
    }
    if (kind !== 'restore') return;
    if (mark === markOf('restore', name, id)) {
      throw new DomainError(
        'WRONG_STATE',
        `${instance.name} may have only some of the files of the snapshot ${name}, and is stopped: restore one of its snapshots before you start it.`,
      );
    }
    if (wasRunning && isStopped(instance)) await startContainer(api, instance);
  }

  /** A server freezes a container while it saves it, and may have been killed meanwhile. */
  private async thaw(ref: InstanceRef, wasRunning: boolean): Promise<void> {
    const { instance } = await this.find(ref);
    if (wasRunning && isFrozen(instance)) await startContainer(this.engine.api, instance);
  }

  private async find(ref: InstanceRef): Promise<Saved> {
    const { api, finder } = this.engine;
    const instance = await finder.find(ref);
    if (instance.type !== 'container') throw instanceNotFound(ref);
    return { instance, volume: await ownVolume(api, instance) };
  }

  private async planOf(saved: Saved, request: SnapshotRequest): Promise<Plan> {
    const { api } = this.engine;
    const roots = await rootSnapshots(api, saved.instance);
    const data = saved.volume && (await findVolumeSnapshot(api, saved.volume, request.name));
    return creationPlan(saved, request, { roots, data });
  }

  /** @throws DomainError SNAPSHOT_NOT_FOUND */
  private async moment({ instance, volume }: Saved, name: string): Promise<SavedMoment> {
    const { api } = this.engine;
    const root = (await rootSnapshots(api, instance)).find((one) => snapshotNameOf(one.name) === name);
    if (!root) throw new DomainError('SNAPSHOT_NOT_FOUND', `${instance.name} has no snapshot ${name}.`);
    const isReachable = whyUnusable(root) === undefined;
    const data = volume && isReachable ? await findVolumeSnapshot(api, volume, root.name) : undefined;
    return { root, hasData: isPair(root, data) };
  }
}
