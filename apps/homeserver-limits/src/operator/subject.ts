import type { RuleFacts, RuleKey } from '@headgate/limit-rules';

/** The user, account or address that an operator asks about, in all forms that keys have. */
export interface Subject {
  readonly text: string;
  readonly user: string;
  readonly account: string | undefined;
  /** The address, or the network of an IPv6 address. */
  readonly source: string;
}

/** Whether a request is by the subject, or about it. */
export const concerns = ({ text, user, account, source }: Subject, facts: RuleFacts): boolean =>
  facts.user === user ||
  (account !== undefined && facts.account === account) ||
  facts.account === text ||
  facts.source === source ||
  facts.address === text ||
  facts.room === text ||
  facts.origin === text;

/** The keys that the subject has in rules by this key, whether or not it has sent a request. */
export function keysOf(by: RuleKey, { text, user, account, source }: Subject): string[] {
  switch (by) {
    case 'user':
      return [user];
    case 'account':
      return account === undefined ? [text] : [account, text];
    case 'source':
      return [source];
    case 'account_source':
      return [];
    default:
      return [text];
  }
}
