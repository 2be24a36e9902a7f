import { ADMINISTRATOR, UniformGrant, type Caller, type TaskJournal } from '@headgate/domain-contracts';

/**
 * The journal of a task that this process runs, with the rights of its caller. They are checked against the current
 * state, so they are not stored.
 */
export interface LiveJournal<Input extends object = object> extends TaskJournal<Input> {
  readonly caller: Caller;
}

/** A task whose caller was limited begins nothing more after a restart. */
const RIGHTS_NOT_STORED = new UniformGrant('role', 'A caller whose rights were not kept', []);

/** The journal as it is stored: without the grant, but with whether it was limited. */
export function toStored({
  caller: { grant, rehearsed: _rehearsed, ...caller },
  ...journal
}: LiveJournal): TaskJournal {
  return grant.kind === 'administrator' ? { ...journal, caller } : { ...journal, caller, isLimited: true };
}

/** A stored journal of a task that continues. */
export const revive = (journal: TaskJournal): LiveJournal => ({
  ...journal,
  caller: { ...journal.caller, grant: journal.isLimited ? RIGHTS_NOT_STORED : ADMINISTRATOR },
});
