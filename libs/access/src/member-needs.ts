import {
  DomainError,
  formatRef,
  type BulkAction,
  type BulkRequest,
  type Grant,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { everything, folders, vmOrCt, type InstanceNeed } from './need.js';
import { expectAllowed, may } from './policy.js';

/** Bulk tasks of these actions begin with rights for their members. A queue of moves is for callers with all rights. */
type MemberAction = BulkAction | 'backup';

const NEEDS: Readonly<Record<MemberAction, InstanceNeed>> = {
  start: vmOrCt('power'),
  stop: vmOrCt('power'),
  restart: vmOrCt('power'),
  pause: vmOrCt('power'),
  unpause: vmOrCt('power'),
  // A migration may lead to another context, where the caller may have no rights.
  migrate: vmOrCt('change', { also: { action: 'change' } }),
  snapshot: vmOrCt('change'),
  tag: vmOrCt('change'),
  untag: vmOrCt('change'),
  folder: vmOrCt('change'),
  // It is in no folder afterwards, where other rights hold.
  unfolder: vmOrCt('change', { also: { action: 'change' } }),
  delete: vmOrCt('delete'),
  backup: vmOrCt('change'),
};

/** In addition to the need of each member: the right to put instances into the folder. */
const FOLDER_NEED = folders('change', ['folder']);

const MAX_NAMED_REFS = 100;

/**
 * Refuses an action on instances if its caller may not do it to one of them: before a bulk task begins, and to each
 * member when its turn comes.
 * @throws DomainError NOT_PERMITTED with the refs, which the caller has named
 */
export function expectMembersAllowed(
  grant: Grant,
  { action, folder }: Pick<BulkRequest, 'folder'> & { readonly action: MemberAction },
  refs: readonly InstanceRef[],
): void {
  if (folder !== undefined) expectAllowed(grant, FOLDER_NEED, { folder });
  const refused = refs.map(formatRef).filter((ref) => !may(grant, NEEDS[action], { ref }));
  if (refused.length === 0) return;
  throw new DomainError('NOT_PERMITTED', `${grant.label} has no right to ${action} ${refused.length} of them.`, {
    details: { refs: refused.slice(0, MAX_NAMED_REFS) },
  });
}

/**
 * Refuses an action on instances that are not known yet, unless its caller may do it to all that will ever be in a
 * folder, or to every instance.
 * @throws DomainError NOT_PERMITTED
 */
export function expectAllowedLater(grant: Grant, bulkAction: MemberAction, folder: string | undefined): void {
  const { action } = NEEDS[bulkAction];
  if (folder === undefined) expectAllowed(grant, everything(action));
  else expectAllowed(grant, folders(action, ['folder']), { folder });
}
