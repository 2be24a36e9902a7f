import {
  Change,
  DomainError,
  matchesNameRule,
  MAX_NAME_LENGTH,
  throwFirstRefusal,
  workOn,
  type Audit,
  type BackendDirectory,
  type Caller,
  type Clock,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
  type InstanceSnapshots,
  type Plan,
  type Reservations,
  type Snapshot,
  type SnapshotRequest,
} from '@headgate/domain-contracts';
import { findChangeable } from '../find-changeable.js';
import type { SnapshotTasks } from './snapshot-tasks.js';

export interface SnapshotDeps {
  readonly directory: InstanceDirectory;
  readonly backends: BackendDirectory;
  readonly tasks: SnapshotTasks;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly reservations: Reservations;
}

interface Found {
  readonly ref: InstanceRef;
  readonly uid: string;
  readonly snapshots: InstanceSnapshots;
}

/** @throws DomainError INSTANCE_NOT_FOUND, NOT_SUPPORTED */
function find({ directory, backends }: SnapshotDeps, query: InstanceQuery): Found {
  const { ref, uid } = directory.resolve(query);
  return { ref, uid, snapshots: backends.get(ref.context).require('snapshots') };
}

/** @throws DomainError like `find`, BUSY while the VM is being deleted */
function findToChange(deps: SnapshotDeps, query: InstanceQuery): Found {
  return find(deps, findChangeable(deps.directory, query).ref);
}

/** Lists the snapshots of a VM. */
export class ListSnapshots {
  constructor(private readonly deps: SnapshotDeps) {}

  /** The oldest first. */
  async list(query: InstanceQuery): Promise<readonly Snapshot[]> {
    const { ref, snapshots } = find(this.deps, query);
    return snapshots.list(ref);
  }
}

export interface CreateSnapshotRequest {
  /** Chosen automatically if it is absent. */
  readonly name?: string;
  readonly memory?: boolean;
}

export interface CreatedSnapshot {
  readonly name: string;
  /** The task that follows the snapshot to its end, if that takes time. */
  readonly task?: string;
}

/** Saves the content of a VM's disks. */
export class CreateSnapshot extends Change<[query: InstanceQuery, request: CreateSnapshotRequest], CreatedSnapshot> {
  constructor(private readonly deps: SnapshotDeps) {
    super();
  }

  override async plan(query: InstanceQuery, request: CreateSnapshotRequest): Promise<Plan> {
    const { ref, snapshots } = findToChange(this.deps, query);
    const completed = await this.complete(ref, request);
    return this.deps.reservations.plan(workOn('snapshot', ref), () => snapshots.planCreate(ref, completed));
  }

  override async run(query: InstanceQuery, request: CreateSnapshotRequest, caller: Caller): Promise<CreatedSnapshot> {
    const { audit, tasks, reservations } = this.deps;
    const { ref, uid, snapshots } = findToChange(this.deps, query);
    const completed = await this.complete(ref, request);
    return reservations.during(workOn('snapshot', ref), async (reservation) => {
      findToChange(this.deps, { ...ref, uid });
      return audit.of(caller, `create snapshot ${completed.name}`, ref, async () => {
        throwFirstRefusal(await snapshots.planCreate(ref, completed));
        const { name, memory } = completed;
        const order = { action: 'create', snapshot: name, ...(memory === true && { memory }) } as const;
        const { task, continues } = await tasks.changes.start({ name: ref.name, ref, order, caller, reservation });
        return { name, ...(continues && { task }) };
      });
    });
  }

  /** The name contains that of the VM, because in a cluster the VMs of a namespace share the names of snapshots. */
  private async complete(ref: InstanceRef, { name, memory }: CreateSnapshotRequest): Promise<SnapshotRequest> {
    const options = memory === true ? { memory } : {};
    if (name === undefined) return { name: automaticName(ref.name, this.deps.clock), ...options };
    const { instanceNames } = this.deps.backends.get(ref.context).traits;
    if (!matchesNameRule(instanceNames, name))
      throw new DomainError('INVALID_NAME', `name must ${instanceNames.description} on ${ref.context}.`);
    return { name, ...options };
  }
}

/** `<VM>-20261231235959000`: the time in milliseconds, in UTC. */
function automaticName(vm: string, clock: Clock): string {
  const digits = clock.iso().replace(/\D/g, '').slice(0, 17);
  return `${vm.slice(0, MAX_NAME_LENGTH - digits.length - 1)}-${digits}`;
}

/** Returns the disks of a VM to a snapshot. */
export class RestoreSnapshot extends Change<[query: InstanceQuery, name: string], string> {
  constructor(private readonly deps: SnapshotDeps) {
    super();
  }

  override async plan(query: InstanceQuery, name: string): Promise<Plan> {
    const { ref, snapshots } = findToChange(this.deps, query);
    return this.deps.reservations.plan(workOn('restore', ref), () => snapshots.planRestore(ref, name));
  }

  /** @returns the ID of the task */
  override async run(query: InstanceQuery, name: string, caller: Caller): Promise<string> {
    const { audit, tasks, reservations } = this.deps;
    const { ref, uid, snapshots } = findToChange(this.deps, query);
    return reservations.during(workOn('restore', ref), async (reservation) => {
      findToChange(this.deps, { ...ref, uid });
      return audit.of(caller, `restore snapshot ${name}`, ref, async () => {
        throwFirstRefusal(await snapshots.planRestore(ref, name));
        const order = { snapshot: name };
        return (await tasks.restores.start({ name: ref.name, ref, order, caller, reservation })).task;
      });
    });
  }
}

/** Deletes a snapshot. */
export class DeleteSnapshot extends Change<[query: InstanceQuery, name: string], string | undefined> {
  constructor(private readonly deps: SnapshotDeps) {
    super();
  }

  override async plan(query: InstanceQuery, name: string): Promise<Plan> {
    const { ref, snapshots } = findToChange(this.deps, query);
    return this.deps.reservations.plan(workOn('delete-snapshot', ref), () => snapshots.planDelete(ref, name));
  }

  /** @returns the ID of the task that merges the content, if that takes time */
  override async run(query: InstanceQuery, name: string, caller: Caller): Promise<string | undefined> {
    const { audit, tasks, reservations } = this.deps;
    const { ref, uid, snapshots } = findToChange(this.deps, query);
    return reservations.during(workOn('delete-snapshot', ref), async (reservation) => {
      findToChange(this.deps, { ...ref, uid });
      return audit.of(caller, `delete snapshot ${name}`, ref, async () => {
        throwFirstRefusal(await snapshots.planDelete(ref, name));
        const order = { action: 'delete', snapshot: name } as const;
        const { task, continues } = await tasks.changes.start({ name: ref.name, ref, order, caller, reservation });
        return continues ? task : undefined;
      });
    });
  }
}
