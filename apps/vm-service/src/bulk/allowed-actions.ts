import {
  DomainError,
  formatRef,
  type AccessAction,
  type BulkAction,
  type Caller,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { InstanceActions, type InstanceOrder } from '@headgate/instances';

const NEEDED: Readonly<Record<BulkAction, AccessAction>> = {
  start: 'power',
  stop: 'power',
  restart: 'power',
  pause: 'power',
  unpause: 'power',
  migrate: 'change',
  tag: 'change',
  untag: 'change',
  delete: 'delete',
};

/**
 * Refuses work on many instances before it begins if one of them is out of reach.
 * @throws DomainError NOT_PERMITTED with the refs, which the caller has named
 */
export function expectAllowed({ grant }: Caller, action: BulkAction, refs: readonly InstanceRef[]): void {
  if (!grant) return;
  // A migration may lead to another context, where the caller may have no rights.
  const isEverywhere = action !== 'migrate' || grant.allowsAll('change');
  const refused = refs.map(formatRef).filter((ref) => !isEverywhere || !grant.allowsRef(NEEDED[action], ref));
  if (refused.length === 0) return;
  throw new DomainError('NOT_PERMITTED', `${grant.label} has no right to ${action} ${refused.length} of them.`, {
    details: { refs: refused.slice(0, MAX_NAMED_REFS) },
  });
}

const MAX_NAMED_REFS = 100;

/** The actions of bulk tasks and folders, each checked against the rights of its caller at the time when it is carried out. */
export class AllowedActions extends InstanceActions {
  override async apply(order: InstanceOrder, ref: InstanceRef, caller: Caller): Promise<string | undefined> {
    expectAllowed(caller, order.action, [ref]);
    return super.apply(order, ref, caller);
  }
}
