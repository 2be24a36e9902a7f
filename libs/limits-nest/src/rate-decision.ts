import { type Claim, RateExceeded, type Reservation } from '@headgate/limits-core';
import type { LimitRules } from './limit-rules.js';
import type { NamedRateRule } from './limited.js';
import type { LimitedRequest } from './request-key.js';

interface RuleClaim {
  readonly rule: NamedRateRule;
  readonly claim: Claim;
}

/** Room that a request has taken, and by which rules its outcome is judged. */
export interface TakenRoom {
  readonly reservation: Reservation;
  readonly rules: readonly NamedRateRule[];
}

/**
 * Takes room for a request under all rules of its route, or under none. What is given back is for the request's outcome
 * to settle; what counts in any case is counted already.
 * @throws RateExceeded
 */
export async function takeRoom(
  rules: LimitRules,
  declared: readonly NamedRateRule[],
  request: LimitedRequest,
): Promise<TakenRoom[]> {
  const claims = declared.flatMap((rule): RuleClaim[] => {
    const key = rule.key(request);
    return key === undefined ? [] : [{ rule, claim: { rate: rules.rate(rule), key } }];
  });
  const real = claims.filter(({ rule }) => !rules.isShadow(rule.name));
  const taken = await takeAll(rules, real);
  const shadows = await Promise.all(
    claims.filter(({ rule }) => rules.isShadow(rule.name)).map((claim) => takeInShadow(rules, claim)),
  );
  const open: TakenRoom[] = [];
  for (const { room, every } of [...taken, ...shadows.flat()]) {
    if (every) await room.reservation.keep();
    else open.push(room);
  }
  return open;
}

interface Taken {
  readonly room: TakenRoom;
  readonly every: boolean;
}

/** Those judged by the outcome are held together, those that count in any case likewise; a refusal of one gives back both. */
async function takeAll(rules: LimitRules, claims: readonly RuleClaim[]): Promise<Taken[]> {
  const taken: Taken[] = [];
  for (const every of [false, true]) {
    const group = claims.filter(({ rule }) => (rule.counts !== 'failures') === every);
    if (group.length === 0) continue;
    const answer = await rules.store.reserve(group.map(({ claim }) => claim));
    if (!answer.granted) {
      for (const { room } of taken) await room.reservation.release();
      rules.metrics.decided(answer.rate, 'refused');
      throw new RateExceeded(answer);
    }
    taken.push({ room: { reservation: answer, rules: group.map(({ rule }) => rule) }, every });
  }
  for (const { rule } of claims) rules.metrics.decided(rule.name, 'granted');
  return taken;
}

async function takeInShadow(rules: LimitRules, { rule, claim }: RuleClaim): Promise<Taken[]> {
  const answer = await rules.store.reserve([claim]);
  rules.metrics.decided(rule.name, answer.granted ? 'granted' : 'shadow_refused');
  return answer.granted ? [{ room: { reservation: answer, rules: [rule] }, every: rule.counts !== 'failures' }] : [];
}
