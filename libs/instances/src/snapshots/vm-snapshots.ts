import {
  DomainError,
  matchesNameRule,
  MAX_NAME_LENGTH,
  throwFirstRefusal,
  type Clock,
  type FoundInstance,
  type Instance,
  type InstanceRef,
  type InstanceSnapshots,
  type Plan,
  type Snapshot,
  type SnapshotRequest,
  type Work,
} from '@headgate/domain-contracts';
import { InstanceChange, type Permit, type InstanceChangeDeps } from '../instance-change.js';
import type { SnapshotTasks } from './snapshot-tasks.js';

export interface SnapshotDeps extends InstanceChangeDeps {
  readonly tasks: SnapshotTasks;
}

export interface CreateSnapshotDeps extends SnapshotDeps {
  readonly clock: Clock;
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

/** Saves the content of the disks of an instance. */
export class CreateSnapshot extends InstanceChange<
  'snapshots',
  [request: CreateSnapshotRequest],
  CreatedSnapshot,
  [request: SnapshotRequest]
> {
  protected override readonly ability = 'snapshots';

  constructor(protected override readonly deps: CreateSnapshotDeps) {
    super(deps);
  }

  protected override operationOf() {
    return 'snapshot' as const;
  }

  protected override actionOf({ name }: SnapshotRequest): string {
    return `create snapshot ${name}`;
  }

  protected override workOf(instance: Instance, request: SnapshotRequest): Work {
    const work = super.workOf(instance, request);
    return request.memory ? { ...work, variant: 'with memory' } : work;
  }

  /** The name contains that of the instance: in a cluster, the VMs of a namespace share the names of snapshots. */
  protected override paramsOf({ ref }: Instance, { name, memory }: CreateSnapshotRequest): [SnapshotRequest] {
    const options = memory === true ? { memory } : {};
    if (name === undefined) return [{ name: snapshotName(ref.name, this.deps.clock.iso()), ...options }];
    const { instanceNames } = this.deps.backends.get(ref.context).traits;
    if (!matchesNameRule(instanceNames, name))
      throw new DomainError('INVALID_NAME', `name must ${instanceNames.description} on ${ref.context}.`);
    return [{ name, ...options }];
  }

  protected override planOn({ ref, ability }: FoundInstance<'snapshots'>, request: SnapshotRequest): Promise<Plan> {
    return ability.planCreate(ref, request);
  }

  protected override async runOn(
    { ref, ability }: FoundInstance<'snapshots'>,
    permit: Permit,
    request: SnapshotRequest,
  ): Promise<CreatedSnapshot> {
    throwFirstRefusal(await ability.planCreate(ref, request));
    const { name, memory } = request;
    const params = { action: 'create', snapshot: name, ...(memory === true && { memory }) } as const;
    const { task, continues } = await this.deps.tasks.changes.start({ name: ref.name, ref, params, ...permit });
    return { name, ...(continues && { task }) };
  }
}

/**
 * `<instance>-20261231235959000`: the time in milliseconds, in UTC.
 * @param time ISO 8601
 */
export function snapshotName(vm: string, time: string): string {
  const digits = time.replace(/\D/g, '').slice(0, 17);
  return `${vm.slice(0, MAX_NAME_LENGTH - digits.length - 1)}-${digits}`;
}

/**
 * Returns the disks of an instance to a snapshot; with its creation time, to no other one of its name. Its result is
 * the ID of the task.
 */
export class RestoreSnapshot extends InstanceChange<
  'snapshots',
  [name: string, creationTime: string | undefined],
  string
> {
  protected override readonly ability = 'snapshots';

  constructor(protected override readonly deps: SnapshotDeps) {
    super(deps);
  }

  protected override operationOf() {
    return 'restore' as const;
  }

  protected override actionOf(name: string): string {
    return `restore snapshot ${name}`;
  }

  protected override planOn({ ref, ability }: FoundInstance<'snapshots'>, name: string): Promise<Plan> {
    return ability.planRestore(ref, name);
  }

  protected override async runOn(
    { ref, ability }: FoundInstance<'snapshots'>,
    permit: Permit,
    name: string,
    creationTime: string | undefined,
  ): Promise<string> {
    throwFirstRefusal(await ability.planRestore(ref, name));
    if (creationTime !== undefined) await expectSame(ability, ref, { name, creationTime });
    const params = { snapshot: name };
    return (await this.deps.tasks.restores.start({ name: ref.name, ref, params, ...permit })).task;
  }
}

/**
 * Deletes a snapshot; with its creation time, no other one of its name. Its result is the ID of the task that merges
 * the content, if that takes time.
 */
export class DeleteSnapshot extends InstanceChange<
  'snapshots',
  [name: string, creationTime: string | undefined],
  string | undefined
> {
  protected override readonly ability = 'snapshots';

  constructor(protected override readonly deps: SnapshotDeps) {
    super(deps);
  }

  protected override operationOf() {
    return 'delete-snapshot' as const;
  }

  protected override actionOf(name: string): string {
    return `delete snapshot ${name}`;
  }

  protected override planOn({ ref, ability }: FoundInstance<'snapshots'>, name: string): Promise<Plan> {
    return ability.planDelete(ref, name);
  }

  protected override async runOn(
    { ref, ability }: FoundInstance<'snapshots'>,
    permit: Permit,
    name: string,
    creationTime: string | undefined,
  ): Promise<string | undefined> {
    throwFirstRefusal(await ability.planDelete(ref, name));
    if (creationTime !== undefined) await expectSame(ability, ref, { name, creationTime });
    const params = { action: 'delete', snapshot: name } as const;
    const { task, continues } = await this.deps.tasks.changes.start({ name: ref.name, ref, params, ...permit });
    return continues ? task : undefined;
  }
}

/** @throws DomainError SNAPSHOT_NOT_FOUND when another one has its name */
async function expectSame(
  snapshots: InstanceSnapshots,
  ref: InstanceRef,
  { name, creationTime }: Pick<Snapshot, 'name' | 'creationTime'>,
): Promise<void> {
  const found = (await snapshots.list(ref)).find((one) => one.name === name);
  if (found?.creationTime !== creationTime)
    throw new DomainError('SNAPSHOT_NOT_FOUND', `The snapshot ${name} of ${ref.name} was replaced by another one.`);
}
