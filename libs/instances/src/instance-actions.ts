import {
  DomainError,
  formatRef,
  type BulkAction,
  type Caller,
  type Change,
  type DirectBulkRequest,
  type InstanceRef,
  type MemberRef,
  type Plan,
  type PowerAction,
} from '@headgate/domain-contracts';
import { CONTAINER_ACTIONS, type ApplyContainerPower } from './apply-container-power.js';
import type { ApplyPower } from './apply-power.js';
import type { DeleteContainer } from './delete-container.js';
import type { DeleteVm } from './delete-vm.js';
import type { MemberReadiness } from './member-readiness.js';
import type { MigrateVm } from './migrate-vm.js';
import type { ScheduledSnapshotting } from './snapshots/scheduled-snapshotting.js';
import { snapshotName, type CreateSnapshot } from './snapshots/vm-snapshots.js';
import type { TagVm } from './tag-vm.js';

/** Puts an instance into a folder. With the ID of its object, it does so to that one only. */
export type PutIntoFolder = Change<
  [path: string, member: { readonly ref: string; readonly uid: string | undefined }],
  void,
  unknown
>;

/** Takes an instance out of its folder, if it is in one. */
export type TakeOutOfFolder = Change<
  [ref: string, options: { readonly isPresent: true; readonly uid: string | undefined }],
  void,
  unknown
>;

/** The use cases of single instances. */
export interface InstanceUseCases {
  readonly applyPower: ApplyPower;
  readonly applyContainerPower: ApplyContainerPower;
  readonly migrateVm: MigrateVm;
  readonly createSnapshot: CreateSnapshot;
  readonly scheduledSnapshots: Pick<ScheduledSnapshotting, 'run'>;
  readonly tagVm: TagVm;
  readonly deleteVm: DeleteVm;
  readonly deleteContainer: DeleteContainer;
  readonly putIntoFolder: PutIntoFolder;
  readonly takeOutOfFolder: TakeOutOfFolder;
}

/**
 * What work on many instances does to one of them: the use case of a single request, with its checks and its audit
 * entry.
 */
export type InstanceBulkRequest = Pick<
  DirectBulkRequest,
  'action' | 'force' | 'tag' | 'folder' | 'waitReady' | 'stamp' | 'schedule'
>;

/** A request that VMs and containers carry out differently. */
type KindRequest = InstanceBulkRequest & { readonly action: Exclude<BulkAction, 'folder' | 'unfolder' | 'snapshot'> };

/** Refuses an action that a caller may not carry out on an instance. @throws DomainError NOT_PERMITTED */
export type ExpectAllowed = (caller: Caller, request: InstanceBulkRequest, ref: InstanceRef) => void;

/** Carries out an action on a VM or a container, for work on many of them. */
export class InstanceActions {
  /**
   * @param expectAllowed decides about each instance when its turn comes: the rights of the caller may be others than
   *   at the request
   */
  constructor(
    private readonly useCases: InstanceUseCases,
    private readonly expectAllowed: ExpectAllowed,
    private readonly readiness: MemberReadiness,
  ) {}

  /** @returns the ID of the task that continues the work, if there is one */
  async apply(request: InstanceBulkRequest, ref: MemberRef, caller: Caller): Promise<string | undefined> {
    this.expectAllowed(caller, request, ref);
    const act = (): Promise<string | undefined> => this.changeOf(request, ref).run(caller);
    return request.waitReady ? this.readiness.after(ref, request.action, act) : act();
  }

  /** The plan of a single request. The rights of the caller were checked before. @throws DomainError as `apply` does */
  async plan(request: InstanceBulkRequest, ref: InstanceRef): Promise<Plan> {
    return this.changeOf(request, ref).plan();
  }

  private changeOf(request: InstanceBulkRequest, ref: MemberRef): BoundChange {
    const { action, folder = '' } = request;
    if (action === 'folder') return bind(this.useCases.putIntoFolder, folder, { ref: formatRef(ref), uid: ref.uid });
    if (action === 'unfolder')
      return bind(this.useCases.takeOutOfFolder, formatRef(ref), { isPresent: true, uid: ref.uid });
    if (action === 'snapshot') return this.snapshotOf(request, ref);
    return ref.kind === 'vm' ? this.changeOfVm({ ...request, action }, ref) : this.changeOfContainer(request, ref);
  }

  /** The snapshots of a schedule are recorded, so that it can delete them. */
  private snapshotOf({ schedule, stamp }: InstanceBulkRequest, ref: MemberRef): BoundChange {
    const { createSnapshot, scheduledSnapshots } = this.useCases;
    const request = stamp === undefined ? {} : { name: snapshotName(ref.name, stamp) };
    return {
      plan: () => createSnapshot.plan(ref, request),
      run: async (caller) =>
        schedule
          ? scheduledSnapshots.run(ref, schedule, caller)
          : (await createSnapshot.run(ref, request, caller)).task,
    };
  }

  private changeOfVm({ action, force = false, tag = '' }: KindRequest, ref: MemberRef): BoundChange {
    const { applyPower, migrateVm, tagVm, deleteVm } = this.useCases;
    switch (action) {
      case 'migrate':
        return bind(migrateVm, ref, undefined);
      case 'tag':
      case 'untag':
        return bind(tagVm, ref, tag, action === 'tag');
      case 'delete':
        return bind(deleteVm, ref);
      default:
        return bind(applyPower, ref, action satisfies PowerAction, { force });
    }
  }

  private changeOfContainer({ action }: InstanceBulkRequest, ref: MemberRef): BoundChange {
    if (action === 'delete') return bind(this.useCases.deleteContainer, ref);
    const power = CONTAINER_ACTIONS.find((one) => one === action);
    if (!power)
      throw new DomainError(
        'NOT_SUPPORTED',
        'Containers can only be started, stopped, saved as snapshots, deleted, and put into folders.',
      );
    return bind(this.useCases.applyContainerPower, ref, power);
  }
}

/** A use case with its arguments. */
interface BoundChange {
  plan(): Promise<Plan>;
  /** @returns the ID of the task that continues the work, if there is one */
  run(caller: Caller): Promise<string | undefined>;
}

const bind = <Args extends readonly unknown[], Prepared>(
  change: Change<Args, string | void, Prepared>,
  ...args: Args
): BoundChange => ({
  plan: () => change.plan(...args),
  run: async (caller) => (await change.run(...args, caller)) ?? undefined,
});
