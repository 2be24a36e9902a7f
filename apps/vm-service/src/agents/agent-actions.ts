import { Injectable } from '@nestjs/common';
import { expectAllowed, expectMembersAllowed, vmOrCt } from '@headgate/access';
import type { AgentAction, HardwareChangeDto, RehearsedChangeDto } from '@headgate/api-contracts';
import {
  BULK_ACTIONS,
  Clock,
  DomainError,
  formatRef,
  type BulkAction,
  type Caller,
  type DirectBulkRequest,
  type Grant,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import {
  ChangeHardwareTogether,
  CreateSnapshot,
  DeleteSnapshot,
  InstanceActions,
  ListSnapshots,
  RestoreSnapshot,
  RunBulk,
} from '@headgate/instances';
import { bindChange, type BoundChange, type Rehearsable } from '@headgate/rehearsals';
import { findMembers } from '../bulk/find-members.js';
import { expectChangeAllowed } from '../hardware/expect-change-allowed.js';
import { toHardwareChanges } from '../hardware/hardware-changes-request.js';
import { InstanceAccess } from '../identity/instance-access.js';
import { ActOnInstance } from './act-on-instance.js';

const CHANGE = vmOrCt('change');
/** The fields that each action takes, besides its targets. */
const FIELDS: Partial<Record<AgentAction, readonly (keyof RehearsedChangeDto)[]>> = {
  stop: ['force'],
  tag: ['tag'],
  untag: ['tag'],
  folder: ['folder'],
  snapshot: ['snapshot'],
  'restore-snapshot': ['snapshot'],
  'delete-snapshot': ['snapshot'],
  hardware: ['changes', 'restart'],
};

/** What an action does to its targets, once they are known. */
type Work = Pick<Rehearsable, 'action' | 'request' | 'isDestructive' | 'bind'> &
  Partial<Pick<Rehearsable, 'into'>> & { readonly expectAllowed: Rehearsable['expectAllowed'] };

/** The use cases that agents may rehearse, with the rights of their routes. */
@Injectable()
export class AgentActions {
  private readonly actOnInstance: ActOnInstance;

  constructor(
    private readonly access: InstanceAccess,
    private readonly fleet: FleetReader,
    private readonly clock: Clock,
    private readonly runBulk: RunBulk,
    private readonly listSnapshots: ListSnapshots,
    private readonly createSnapshot: CreateSnapshot,
    private readonly restoreSnapshot: RestoreSnapshot,
    private readonly deleteSnapshot: DeleteSnapshot,
    private readonly changeHardware: ChangeHardwareTogether,
    actions: InstanceActions,
  ) {
    this.actOnInstance = new ActOnInstance(actions);
  }

  /** @throws DomainError INVALID_INPUT, INVALID_REF, INSTANCE_NOT_FOUND, SNAPSHOT_NOT_FOUND */
  async of(dto: RehearsedChangeDto, caller: Caller): Promise<Rehearsable> {
    const { refs, query } = dto;
    if ((refs === undefined) === (query === undefined))
      throw new DomainError('INVALID_INPUT', 'Exactly one of refs and query must be set.');
    expectFields(dto);
    const choose = (chooser: Caller): readonly InstanceRef[] =>
      refs
        ? refs.map((ref) => this.access.findRef(ref, chooser.grant).ref)
        : findMembers({ query }, this.fleet, chooser);
    const work = await this.workOf(dto, choose(caller));
    return { ...work, choose, request: { work: work.request, query: { ...query }, refs: refs ?? [] } };
  }

  private async workOf(dto: RehearsedChangeDto, refs: readonly InstanceRef[]): Promise<Work> {
    const { action, snapshot } = dto;
    switch (action) {
      case 'restore-snapshot':
      case 'delete-snapshot':
        return this.snapshotWork(action, expectOne(action, refs), snapshot ?? '');
      case 'hardware':
        return this.hardwareWork(expectOne(action, refs), dto.changes ?? [], dto.restart === true);
      case 'snapshot':
        return snapshot === undefined
          ? this.bulkWork(dto, action)
          : this.namedSnapshot(expectOne(action, refs), snapshot);
      default:
        return this.bulkWork(dto, action);
    }
  }

  /** One instance is changed at once, several of them in a bulk task. */
  private bulkWork({ force, tag, folder }: RehearsedChangeDto, action: BulkAction): Work {
    const request: DirectBulkRequest = {
      action,
      ...(force && { force }),
      ...(tag !== undefined && { tag }),
      ...(folder !== undefined && { folder }),
      // The plan of a snapshot has its name, so that it must not depend on the time of the commit.
      ...(action === 'snapshot' && { stamp: this.clock.iso() }),
    };
    return {
      action: [action, force && 'by force', tag, folder].filter(Boolean).join(' '),
      request,
      isDestructive: action === 'delete' || force === true,
      ...(folder !== undefined && { into: folder }),
      expectAllowed: (grant, refs) => expectMembersAllowed(grant, request, refs),
      bind: (refs) => {
        const [only, other] = refs;
        return only && !other
          ? bindChange(this.actOnInstance, [request, only], (task) => task)
          : bindChange(this.runBulk, [request, refs], (task) => task);
      },
    };
  }

  private namedSnapshot(ref: InstanceRef, name: string): Work {
    return {
      action: `create snapshot ${name}`,
      request: { action: 'snapshot', name },
      isDestructive: false,
      expectAllowed: expectChangeable,
      bind: () => bindChange(this.createSnapshot, [ref, { name }], ({ task }) => task),
    };
  }

  /** Another snapshot of its name, which was created later, is not meant. */
  private async snapshotWork(
    action: 'restore-snapshot' | 'delete-snapshot',
    ref: InstanceRef,
    name: string,
  ): Promise<Work> {
    const found = (await this.listSnapshots.list(ref)).find((one) => one.name === name);
    if (!found) throw new DomainError('SNAPSHOT_NOT_FOUND', `${ref.name} has no snapshot ${name}.`);
    const { creationTime } = found;
    const bind = (): BoundChange =>
      action === 'restore-snapshot'
        ? bindChange(this.restoreSnapshot, [ref, name, creationTime], (task) => task)
        : bindChange(this.deleteSnapshot, [ref, name, creationTime], (task) => task);
    return {
      action: `${action === 'restore-snapshot' ? 'restore' : 'delete'} snapshot ${name}`,
      request: { action, name, creationTime: creationTime ?? null },
      isDestructive: true,
      expectAllowed: expectChangeable,
      bind,
    };
  }

  private hardwareWork(ref: InstanceRef, dtos: readonly HardwareChangeDto[], restart: boolean): Work {
    const changes = toHardwareChanges(dtos, restart);
    return {
      action: 'change hardware',
      request: { action: 'hardware', changes },
      isDestructive: changes.some((change) => change.kind === 'detach-volume' && change.deleteVolume),
      expectAllowed: (grant, refs) => {
        expectChangeable(grant, refs);
        for (const dto of dtos) expectChangeAllowed(dto, grant);
      },
      bind: () => bindChange(this.changeHardware, [ref, changes], () => undefined),
    };
  }
}

function expectChangeable(grant: Grant, refs: readonly InstanceRef[]): void {
  for (const ref of refs) expectAllowed(grant, CHANGE, { ref: formatRef(ref) });
}

/** @throws DomainError INVALID_INPUT for an argument that would be ignored, or is missing */
function expectFields(dto: RehearsedChangeDto): void {
  const { action } = dto;
  const takes = FIELDS[action] ?? [];
  for (const field of ['force', 'tag', 'folder', 'snapshot', 'changes', 'restart'] as const)
    if (dto[field] !== undefined && !takes.includes(field))
      throw new DomainError('INVALID_INPUT', `${action} takes no ${field}.`);
  const needed = (['tag', 'folder', 'changes'] as const).find((field) => takes.includes(field) && !dto[field]);
  if (needed) throw new DomainError('INVALID_INPUT', `${needed} is missing; ${action} needs it.`);
  const isOfSnapshot = !BULK_ACTIONS.some((one) => one === action) && takes.includes('snapshot');
  if (isOfSnapshot && dto.snapshot === undefined)
    throw new DomainError('INVALID_INPUT', `snapshot is missing; ${action} needs the name of one.`);
}

function expectOne(action: string, [only, other]: readonly InstanceRef[]): InstanceRef {
  if (only && !other) return only;
  throw new DomainError('INVALID_INPUT', `${action} is for one instance; rehearse it for each of them.`);
}
