import type { Caller } from '@headgate/homeserver-contracts';
import type { RuleFacts } from '@headgate/limit-rules';

/** What rules know about an identified caller. */
export const factsOf = ({ userId, appservice }: Caller): Pick<RuleFacts, 'user' | 'appservice'> => ({
  user: userId,
  appservice,
});
