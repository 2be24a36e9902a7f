import {
  DomainError,
  type BulkAction,
  type Caller,
  type DirectBulkRequest,
  type InstanceRef,
  type PowerAction,
} from '@headgate/domain-contracts';
import { CONTAINER_ACTIONS, type ApplyContainerPower } from './apply-container-power.js';
import type { ApplyPower } from './apply-power.js';
import type { DeleteContainer } from './delete-container.js';
import type { DeleteVm } from './delete-vm.js';
import type { MigrateVm } from './migrate-vm.js';
import type { TagVm } from './tag-vm.js';

/** The use cases of single instances. */
export interface InstanceUseCases {
  readonly applyPower: ApplyPower;
  readonly applyContainerPower: ApplyContainerPower;
  readonly migrateVm: MigrateVm;
  readonly tagVm: TagVm;
  readonly deleteVm: DeleteVm;
  readonly deleteContainer: DeleteContainer;
}

/**
 * What work on many instances does to one of them: the use case of a single request, with its checks and its audit
 * entry.
 */
export type InstanceBulkRequest = Pick<DirectBulkRequest, 'action' | 'force' | 'tag'>;

/** Refuses an action that a caller may not carry out on an instance. @throws DomainError NOT_PERMITTED */
export type ExpectAllowed = (caller: Caller, action: BulkAction, ref: InstanceRef) => void;

/** Carries out an action on a VM or a container, for work on many of them. */
export class InstanceActions {
  /**
   * @param expectAllowed decides about each instance when its turn comes: the rights of the caller may be others than
   *   at the request
   */
  constructor(
    private readonly useCases: InstanceUseCases,
    private readonly expectAllowed: ExpectAllowed,
  ) {}

  /** @returns the ID of the task that continues the work, if there is one */
  async apply(request: InstanceBulkRequest, ref: InstanceRef, caller: Caller): Promise<string | undefined> {
    this.expectAllowed(caller, request.action, ref);
    return ref.kind === 'vm' ? this.applyToVm(request, ref, caller) : this.applyToContainer(request, ref, caller);
  }

  private async applyToVm(request: InstanceBulkRequest, ref: InstanceRef, caller: Caller): Promise<string | undefined> {
    const { action, force = false, tag = '' } = request;
    const { applyPower, migrateVm, tagVm, deleteVm } = this.useCases;
    switch (action) {
      case 'migrate':
        return migrateVm.run(ref, undefined, caller);
      case 'tag':
      case 'untag':
        return void (await tagVm.run(ref, tag, action === 'tag', caller));
      case 'delete':
        return void (await deleteVm.run(ref, caller));
      default:
        return void (await applyPower.run(ref, action satisfies PowerAction, { force }, caller));
    }
  }

  private async applyToContainer(
    { action }: InstanceBulkRequest,
    ref: InstanceRef,
    caller: Caller,
  ): Promise<undefined> {
    if (action === 'delete') return void (await this.useCases.deleteContainer.run(ref, caller));
    const power = CONTAINER_ACTIONS.find((one) => one === action);
    if (!power) throw new DomainError('NOT_SUPPORTED', 'Containers can only be started, stopped and deleted.');
    await this.useCases.applyContainerPower.run(ref, power, caller);
  }
}
