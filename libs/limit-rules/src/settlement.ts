import { isSharedKey, type RequestOutcome, type Rule } from './rule.js';

/** `cancel`: the request is refused after all. */
export type GroupOutcome = RequestOutcome | 'cancel';

/** Whether a request counts whatever its outcome is. */
export const countsAtOnce = ({ counts, by }: Rule): boolean => counts === 'every' && !isSharedKey(by);

/** What becomes of a reserved place under a rule, by the outcome of the request. */
export function settlementOf(
  { by, counts, successClears }: Rule,
  outcome: GroupOutcome,
): 'commit' | 'reset' | 'release' {
  if (outcome === 'cancel') return 'release';
  if (counts !== 'failures') {
    const hadNoRight = outcome === 'unauthenticated' || (outcome === 'forbidden' && isSharedKey(by) && by !== 'origin');
    // Nothing was sent to the recipient. An origin may not have been verified yet.
    const usesNothing = outcome === 'rejected' && (by === 'recipient' || by === 'origin');
    return hadNoRight || usesNothing ? 'release' : 'commit';
  }
  if (outcome === 'forbidden' || outcome === 'lost') return 'commit';
  return outcome === 'success' && successClears ? 'reset' : 'release';
}

/** Whether a granted request with this outcome has used some of the limit of a rule. */
export const countsOutcome = (rule: Rule, outcome: RequestOutcome): boolean =>
  countsAtOnce(rule) || settlementOf(rule, outcome) === 'commit';
