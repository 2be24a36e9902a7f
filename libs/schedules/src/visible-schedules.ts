import {
  ACCESS_ACTIONS,
  DomainError,
  type Caller,
  type Schedule,
  type ScheduleStore,
} from '@headgate/domain-contracts';

/**
 * Whether a caller may see, change and run a schedule. The schedule runs with the rights of its owner, so others need
 * all rights, and an API token sees only those that it has created.
 */
export function isVisible({ owner, token }: Schedule, caller: Caller): boolean {
  if (owner === caller.login && (caller.token === undefined || caller.token === token)) return true;
  return ACCESS_ACTIONS.every((action) => caller.grant.allowsAll(action));
}

export const visibleSchedules = (store: ScheduleStore, caller: Caller): Schedule[] =>
  store.all().filter((one) => isVisible(one, caller));

/** @throws DomainError SCHEDULE_NOT_FOUND, also for one that the caller may not see */
export function findSchedule(store: ScheduleStore, id: string, caller: Caller): Schedule {
  const found = visibleSchedules(store, caller).find((one) => one.id === id);
  if (!found) throw new DomainError('SCHEDULE_NOT_FOUND', `There is no schedule ${id.slice(0, 40)}.`);
  return found;
}
