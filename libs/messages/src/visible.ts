import {
  ACCESS_ACTIONS,
  DomainError,
  type Caller,
  type MessageChannel,
  type MessageChannelStore,
  type MessageRule,
  type MessageRuleStore,
} from '@headgate/domain-contracts';

const hasAllRights = ({ grant }: Caller): boolean => ACCESS_ACTIONS.every((action) => grant.allowsAll(action));

/** Whether a caller may change the channels, and see where they send to. */
export const mayManageChannels = ({ grant }: Caller): boolean => grant.allowsAll('manage');

/** The channels that a caller may use in rules. */
export const usableChannels = (store: MessageChannelStore, caller: Caller): MessageChannel[] =>
  store.all().filter(({ shared }) => shared || mayManageChannels(caller));

/** @throws DomainError MESSAGE_CHANNEL_NOT_FOUND */
export function findChannel(store: MessageChannelStore, id: string): MessageChannel {
  const found = store.all().find((one) => one.id === id);
  if (!found) throw new DomainError('MESSAGE_CHANNEL_NOT_FOUND', `There is no channel ${id.slice(0, 40)}.`);
  return found;
}

/**
 * The rules that a caller may see and change. A rule has the rights of its owner, so others need all rights, and an API
 * token sees only those that it has created.
 */
export const visibleRules = (store: MessageRuleStore, caller: Caller): MessageRule[] =>
  store
    .all()
    .filter(
      ({ owner, token }) =>
        (owner === caller.login && (caller.token === undefined || caller.token === token)) || hasAllRights(caller),
    );

/** @throws DomainError MESSAGE_RULE_NOT_FOUND, also for one that the caller may not see */
export function findRule(store: MessageRuleStore, id: string, caller: Caller): MessageRule {
  const found = visibleRules(store, caller).find((one) => one.id === id);
  if (!found) throw new DomainError('MESSAGE_RULE_NOT_FOUND', `There is no rule ${id.slice(0, 40)}.`);
  return found;
}
