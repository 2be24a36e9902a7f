import { DomainError, formatRef, type BulkAction, type Grant, type InstanceRef } from '@headgate/domain-contracts';
import { vmOrCt, type Need } from './need.js';
import { may } from './policy.js';

const NEEDS: Readonly<Record<BulkAction, Need>> = {
  start: vmOrCt('power'),
  stop: vmOrCt('power'),
  restart: vmOrCt('power'),
  pause: vmOrCt('power'),
  unpause: vmOrCt('power'),
  // A migration may lead to another context, where the caller may have no rights.
  migrate: vmOrCt('change', { also: { action: 'change' } }),
  tag: vmOrCt('change'),
  untag: vmOrCt('change'),
  delete: vmOrCt('delete'),
};

const MAX_NAMED_REFS = 100;

/**
 * Refuses an action on instances if its caller may not do it to one of them: before a bulk task begins, and to each
 * member when its turn comes.
 * @throws DomainError NOT_PERMITTED with the refs, which the caller has named
 */
export function expectMembersAllowed(grant: Grant, action: BulkAction, refs: readonly InstanceRef[]): void {
  const refused = refs.map(formatRef).filter((ref) => !may(grant, NEEDS[action], { ref }));
  if (refused.length === 0) return;
  throw new DomainError('NOT_PERMITTED', `${grant.label} has no right to ${action} ${refused.length} of them.`, {
    details: { refs: refused.slice(0, MAX_NAMED_REFS) },
  });
}
