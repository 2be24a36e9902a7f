import {
  Change,
  DomainError,
  matchesNameRule,
  MAX_NAME_LENGTH,
  type Audit,
  type BackendDirectory,
  type Caller,
  type Clock,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
  type InstanceSnapshots,
  type Plan,
  type Snapshot,
  type SnapshotRequest,
  type TaskRunner,
} from '@headgate/domain-contracts';

export interface SnapshotDeps {
  readonly directory: InstanceDirectory;
  readonly backends: BackendDirectory;
  readonly tasks: TaskRunner;
  readonly audit: Audit;
  readonly clock: Clock;
}

interface Found {
  readonly ref: InstanceRef;
  readonly snapshots: InstanceSnapshots;
}

/** @throws DomainError INSTANCE_NOT_FOUND, NOT_SUPPORTED */
function find({ directory, backends }: SnapshotDeps, query: InstanceQuery): Found {
  const { ref } = directory.resolve(query);
  return { ref, snapshots: backends.get(ref.context).require('snapshots') };
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
    const { ref, snapshots } = find(this.deps, query);
    return snapshots.planCreate(ref, await this.complete(ref, request));
  }

  override async run(query: InstanceQuery, request: CreateSnapshotRequest, caller: Caller): Promise<CreatedSnapshot> {
    const { ref, snapshots } = find(this.deps, query);
    const completed = await this.complete(ref, request);
    return this.deps.audit.of(caller, `create snapshot ${completed.name}`, ref, async () => {
      const { remaining } = await snapshots.create(ref, completed);
      const task = remaining && (await this.deps.tasks.start('snapshot', ref, caller, remaining));
      return { name: completed.name, task };
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
    const { ref, snapshots } = find(this.deps, query);
    return snapshots.planRestore(ref, name);
  }

  /** @returns the ID of the task */
  override async run(query: InstanceQuery, name: string, caller: Caller): Promise<string> {
    const { ref, snapshots } = find(this.deps, query);
    return this.deps.audit.of(caller, `restore snapshot ${name}`, ref, async () =>
      this.deps.tasks.start('restore', ref, caller, await snapshots.restore(ref, name)),
    );
  }
}

/** Deletes a snapshot. */
export class DeleteSnapshot extends Change<[query: InstanceQuery, name: string], string | undefined> {
  constructor(private readonly deps: SnapshotDeps) {
    super();
  }

  override async plan(query: InstanceQuery, name: string): Promise<Plan> {
    const { ref, snapshots } = find(this.deps, query);
    return snapshots.planDelete(ref, name);
  }

  /** @returns the ID of the task that merges the content, if that takes time */
  override async run(query: InstanceQuery, name: string, caller: Caller): Promise<string | undefined> {
    const { ref, snapshots } = find(this.deps, query);
    return this.deps.audit.of(caller, `delete snapshot ${name}`, ref, async () => {
      const { remaining } = await snapshots.delete(ref, name);
      return remaining && this.deps.tasks.start('snapshot', ref, caller, remaining);
    });
  }
}
