import type { RuleFacts, RuleKey } from './rule.js';

/** The key of rules with one budget for everyone. */
const EVERYONE = '*';

/** The value that a rule counts under; undefined if the request has none, so that the rule does not apply. */
export function ruleKeyOf(by: RuleKey, facts: RuleFacts): string | undefined {
  switch (by) {
    case 'account':
      return facts.account;
    case 'account_source':
      return facts.account === undefined ? undefined : `${facts.account} ${facts.source}`;
    case 'source':
      return facts.source;
    case 'user':
      return facts.user;
    case 'room':
      return facts.room;
    case 'origin':
      return facts.origin;
    case 'target_server':
      return facts.targetServer;
    case 'recipient':
      return facts.recipient;
    case 'server':
      return EVERYONE;
  }
}
