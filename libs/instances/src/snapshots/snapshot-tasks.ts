import type {
  BackendDirectory,
  InstanceRef,
  InstanceSnapshots,
  OperationKey,
  SnapshotOperation,
} from '@headgate/domain-contracts';
import { enginePatience, EngineTasks, type EngineTasksDeps } from '../engine-tasks.js';

export interface SnapshotTasksDeps extends EngineTasksDeps {
  readonly backends: BackendDirectory;
}

interface SnapshotParams {
  readonly action: 'create' | 'delete';
  readonly snapshot: string;
  readonly memory?: true;
}

interface RestoreParams {
  readonly snapshot: string;
}

/** The tasks that create, delete and restore snapshots. They continue after a restart. */
export class SnapshotTasks {
  readonly changes: EngineTasks<SnapshotParams>;
  readonly restores: EngineTasks<RestoreParams>;

  constructor({ backends, ...deps }: SnapshotTasksDeps) {
    const snapshotsOf = ({ kind, context }: InstanceRef): InstanceSnapshots =>
      backends.get(context).requireFor(kind, 'snapshots');
    const change = ({ action: kind, snapshot }: SnapshotParams, key: OperationKey): SnapshotOperation => ({
      kind,
      snapshot,
      ...key,
    });
    const restore = ({ snapshot }: RestoreParams, key: OperationKey): SnapshotOperation => ({
      kind: 'restore',
      snapshot,
      ...key,
    });
    this.changes = new EngineTasks<SnapshotParams>(deps, {
      kind: 'snapshot',
      label: ({ action, snapshot }) =>
        action === 'create' ? `the snapshot ${snapshot}` : `the deletion of ${snapshot}`,
      patience: ({ action, snapshot }) =>
        action === 'create'
          ? enginePatience(`the snapshot ${snapshot}`, 'The backend may still complete the snapshot: delete it then.')
          : enginePatience(`the deletion of ${snapshot}`, 'The backend may still delete the snapshot.'),
      isCancelable: ({ action }) => action === 'create',
      begin: async (ref, { action, snapshot: name, memory }, key) => {
        const snapshots = snapshotsOf(ref);
        const request = { name, ...(memory === true && { memory }) };
        const { remaining } =
          action === 'create' ? await snapshots.create(ref, request, key) : await snapshots.delete(ref, name, key);
        return remaining;
      },
      stateOf: (ref, params, key) => snapshotsOf(ref).stateOf(ref, change(params, key)),
      resume: (ref, params, key) => snapshotsOf(ref).resume(ref, change(params, key)),
      discard: (ref, params, key, signal) => snapshotsOf(ref).discard(ref, change(params, key), signal),
    });
    this.restores = new EngineTasks<RestoreParams>(deps, {
      kind: 'restore',
      label: ({ snapshot }) => `the restore of ${snapshot}`,
      patience: ({ snapshot }) =>
        enginePatience(
          `the restore of ${snapshot}`,
          'The backend may still replace the disks: look at the VM before you start or restore it.',
        ),
      isCancelable: () => true,
      startsAgain: (ref) => (ref.kind === 'vm' ? backends.get(ref.context).require('power').staysOn(ref) : undefined),
      begin: (ref, { snapshot }, key) => snapshotsOf(ref).restore(ref, snapshot, key),
      stateOf: (ref, params, key) => snapshotsOf(ref).stateOf(ref, restore(params, key)),
      resume: (ref, params, key) => snapshotsOf(ref).resume(ref, restore(params, key)),
      discard: (ref, params, key, signal) => snapshotsOf(ref).discard(ref, restore(params, key), signal),
    });
  }
}
