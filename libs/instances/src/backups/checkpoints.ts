import {
  Change,
  workOn,
  type Audit,
  type BackendDirectory,
  type Caller,
  type Checkpoint,
  type InstanceBackups,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
  type Plan,
  type Reservations,
} from '@headgate/domain-contracts';
import { findChangeable } from '../find-changeable.js';

interface Found {
  readonly ref: InstanceRef;
  readonly uid: string;
  readonly backups: InstanceBackups;
}

/** @throws DomainError INSTANCE_NOT_FOUND, NOT_SUPPORTED */
function find(directory: InstanceDirectory, backends: BackendDirectory, query: InstanceQuery): Found {
  const { ref, uid } = directory.resolve(query);
  return { ref, uid, backups: backends.get(ref.context).require('backups') };
}

/** Lists the checkpoints of a VM. */
export class ListCheckpoints {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
  ) {}

  /** The oldest first. */
  async list(query: InstanceQuery): Promise<readonly Checkpoint[]> {
    const { ref, backups } = find(this.directory, this.backends, query);
    return backups.list(ref);
  }
}

/** Deletes a checkpoint: the changes since then are no longer recorded. */
export class DeleteCheckpoint extends Change<[query: InstanceQuery, name: string]> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
    private readonly reservations: Reservations,
  ) {
    super();
  }

  override async plan(query: InstanceQuery, name: string): Promise<Plan> {
    const { ref, backups } = find(this.directory, this.backends, query);
    return this.reservations.inPlan(workOn('delete-checkpoint', ref), await backups.planDelete(ref, name));
  }

  override async run(query: InstanceQuery, name: string, caller: Caller): Promise<void> {
    const { ref, uid, backups } = find(this.directory, this.backends, query);
    return this.reservations.during(workOn('delete-checkpoint', ref), () => {
      findChangeable(this.directory, { ...ref, uid });
      return this.audit.of(caller, `delete checkpoint ${name}`, ref, () => backups.delete(ref, name));
    });
  }
}
