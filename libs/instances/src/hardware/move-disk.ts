import {
  Change,
  type Audit,
  type BackendDirectory,
  type Caller,
  type DiskMove,
  type DiskMoveRequest,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
  type Plan,
  type TaskRunner,
} from '@headgate/domain-contracts';

/** Moves a disk of a running VM to another storage. */
export class MoveDisk extends Change<[query: InstanceQuery, request: DiskMoveRequest], string> {
  constructor(
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly tasks: TaskRunner,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(query: InstanceQuery, request: DiskMoveRequest): Promise<Plan> {
    const { ref, diskMove } = this.find(query);
    return diskMove.plan(ref, request);
  }

  /** @returns the ID of the task that follows the copy to its end */
  override async run(query: InstanceQuery, request: DiskMoveRequest, caller: Caller): Promise<string> {
    const { ref, diskMove } = this.find(query);
    return this.audit.of(caller, `move disk ${request.volume} to ${request.storage}`, ref, async () =>
      this.tasks.start('disk', ref, caller, await diskMove.move(ref, request)),
    );
  }

  private find(query: InstanceQuery): { readonly ref: InstanceRef; readonly diskMove: DiskMove } {
    const { ref } = this.directory.resolve(query);
    return { ref, diskMove: this.backends.get(ref.context).require('diskMove') };
  }
}
