import type { RateLimiter, RateRefusal, Reservation } from '@headgate/limits-core';
import { ExemptionList } from './exemption-list.js';
import type { LimitOverrides } from './limit-overrides.js';
import { all, type Maybe, then } from './maybe.js';
import {
  type Admission,
  isSharedKey,
  type RequestOutcome,
  type Rule,
  type RuleEvent,
  type RuleFacts,
  type RuleRefusal,
  type RuleSet,
} from './rule.js';
import type { RuleListener } from './rule-listener.js';
import { ruleKeyOf } from './rule-key.js';
import { RuleRates } from './rule-rates.js';
import { countsAtOnce, type GroupOutcome, settlementOf } from './settlement.js';

/** One rule and one of its keys, with what a request takes from its limit. */
interface Claim {
  readonly rates: RuleRates;
  readonly exempt: ExemptionList;
  readonly facts: RuleFacts;
  readonly key: string;
  cost: number;
}

const ADMITTED = { granted: true as const, isSettled: true as const, settle: () => undefined };
const NO_EXEMPTIONS = { users: [], appservices: [], networks: [] };
/** How soon to try again when only requests in progress, which may turn out not to count, leave no room. */
const IN_FLIGHT_RETRY_MS = 1000;

/**
 * Decides on requests by their facts and by the windows of a limiter, and on nothing else: given the same facts in the
 * same order at the same times, it decides the same. With a limiter in this process, decisions are values; with one on
 * a server, promises.
 */
export class RuleEngine {
  private byEvent = new Map<RuleEvent, Pick<Claim, 'rates' | 'exempt'>[]>();
  private exempt = new ExemptionList(NO_EXEMPTIONS);

  constructor(
    private readonly limiter: RateLimiter,
    private readonly listener: RuleListener,
    rules: RuleSet = { rules: [], exempt: NO_EXEMPTIONS },
    private readonly overrides?: LimitOverrides,
  ) {
    this.configure(rules);
  }

  /**
   * Replaces the rules. Those that keep their name keep their windows.
   * @throws RangeError when the limiter can't hold them
   */
  configure({ rules, exempt }: RuleSet): void {
    const byEvent = new Map<RuleEvent, Pick<Claim, 'rates' | 'exempt'>[]>();
    for (const rule of rules) {
      const one = { rates: new RuleRates(rule, this.limiter, this.overrides), exempt: new ExemptionList(rule.exempt) };
      for (const event of rule.on) byEvent.set(event, [...(byEvent.get(event) ?? []), one]);
    }
    this.byEvent = byEvent;
    this.exempt = new ExemptionList(exempt);
  }

  /** Whether any rule counts this event. */
  counts(event: RuleEvent): boolean {
    return this.byEvent.has(event);
  }

  /** The rules on an event. */
  rulesOn(event: RuleEvent): Rule[] {
    return (this.byEvent.get(event) ?? []).map(({ rates }) => rates.rule);
  }

  /** Whether none of the rules applies to a caller. */
  isExempt(caller: Pick<RuleFacts, 'user' | 'appservice' | 'address'>): boolean {
    return this.exempt.covers(caller);
  }

  /**
   * Checks a request against every rule, and counts or reserves it under all of them or none. A request that does
   * several things, such as creating a room with invites, has facts for each of them.
   */
  admit(parts: readonly RuleFacts[]): Maybe<Admission | RuleRefusal> {
    const claims = this.claimsOf(parts);
    if (claims.length === 0) return ADMITTED;
    const enforced = claims.filter(({ rates }) => !rates.rule.shadow);
    const shadows = claims.filter(({ rates }) => rates.rule.shadow);
    return then(this.claimAll(enforced), (answer) => {
      this.report(enforced, answer, false);
      return answer.granted && shadows.length > 0 ? this.addShadows(answer, shadows) : answer;
    });
  }

  /** Each shadow rule on its own: whether one has room does not depend on the others. */
  private addShadows(admission: Admission, shadows: readonly Claim[]): Maybe<Admission> {
    const claiming = orElse(
      () => all(shadows.map((shadow) => this.claimAll([shadow]))),
      () => admission.settle('other'),
    );
    return then(claiming, (answers) => {
      answers.forEach((answer, index) => this.report([shadows[index]!], answer, true));
      const admissions = [admission, ...answers.filter((answer) => answer.granted)];
      const settle = (outcome: RequestOutcome) =>
        then(all(admissions.map((one) => one.settle(outcome))), () => undefined);
      return { granted: true, settle };
    });
  }

  private claimsOf(parts: readonly RuleFacts[]): Claim[] {
    const claims: Claim[] = [];
    for (const facts of parts) {
      const rules = this.byEvent.get(facts.event);
      if (!rules || this.exempt.covers(facts)) continue;
      for (const { rates, exempt } of rules) {
        if (facts.isResponse && rates.rule.unit !== 'bytes') continue;
        const key = ruleKeyOf(rates.rule.by, facts);
        if (key === undefined || exempt.covers(facts)) continue;
        const cost = rates.costOf(facts);
        const same = claims.find((claim) => claim.rates === rates && claim.key === key);
        if (same) same.cost += cost;
        else claims.push({ rates, exempt, facts, key, cost });
      }
    }
    return claims;
  }

  /** Claims everything or nothing. */
  private claimAll(claims: readonly Claim[]): Maybe<Admission | RuleRefusal> {
    const blockable = claims.filter(({ rates }) => rates.rule.block);
    if (blockable.length === 0) return this.claimUnblocked(claims);
    return then(all(blockable.map(({ rates, key }) => rates.blockedMs(key))), (times) => {
      const longestMs = Math.max(...times);
      if (longestMs === 0) return this.claimUnblocked(claims);
      return refusalOf(blockable[times.indexOf(longestMs)]!, 'block', longestMs);
    });
  }

  private claimUnblocked(claims: readonly Claim[]): Maybe<Admission | RuleRefusal> {
    const counted = claims.filter(({ rates }) => countsAtOnce(rates.rule));
    return then(this.reserveGroups(groupsOf(claims)), (reserved) => {
      if (!reserved.granted) return this.refuse(claims, reserved);
      if (counted.length === 0) return reserved;
      const keys = counted.map(({ rates, key, cost }) => rates.countedKey(key, cost));
      const counting = orElse(
        () => this.limiter.countAll(keys),
        () => reserved.settle('cancel'),
      );
      return then(counting, (refusal): Maybe<Admission | RuleRefusal> => {
        if (!refusal) return reserved;
        return then(reserved.settle('cancel'), () => this.refuse(claims, refusal));
      });
    });
  }

  /**
   * Reserves each group, since groups are settled differently, or none of them.
   * @returns the refusal that lasts longest, or the reservations of all groups
   */
  private reserveGroups(groups: readonly Claim[][]): Maybe<Reserved | RateRefusal> {
    const reservations: GroupReservation[] = [];
    const release = () => settleAll(reservations, 'cancel');
    const reserveFrom = (index: number, longest: RateRefusal | undefined): Maybe<Reserved | RateRefusal> => {
      const group = groups[index];
      if (!group) {
        if (longest) return then(release(), () => longest);
        return { granted: true, settle: (outcome) => settleAll(reservations, outcome) };
      }
      const keys = group.map(({ rates, key, cost }) => rates.countedKey(key, cost));
      const reserving = orElse(() => this.limiter.reserve(keys), release);
      return then(reserving, (answer) => {
        if (answer.granted) reservations.push({ rule: group[0]!.rates.rule, reservation: answer });
        const refusal = answer.granted ? undefined : answer;
        return reserveFrom(index + 1, longer(longest, refusal));
      });
    };
    return groups.length === 0 ? ADMITTED : reserveFrom(0, undefined);
  }

  private refuse(claims: readonly Claim[], { rate, retryAfterMs }: RateRefusal): Maybe<RuleRefusal> {
    const claim = claims.find(({ rates }) => rates.rule.name === rate)!;
    if (isSharedKey(claim.rates.rule.by)) return this.refuseShared(claim, retryAfterMs);
    return then(claim.rates.countRefusal(claim.key), (blockMs) =>
      blockMs > retryAfterMs ? refusalOf(claim, 'block', blockMs) : refusalOf(claim, 'limit', retryAfterMs),
    );
  }

  /** Requests in progress of strangers must not keep the others away for the rest of the window. */
  private refuseShared(claim: Claim, retryAfterMs: number): Maybe<RuleRefusal> {
    const { rate, key, cost = 1, limit = rate.limit } = claim.rates.countedKey(claim.key, claim.cost);
    return then(this.limiter.peek(rate, key), ({ counted }) => {
      const hasRoom = counted + Math.min(cost, limit) <= limit;
      return refusalOf(claim, 'limit', hasRoom ? Math.min(retryAfterMs, IN_FLIGHT_RETRY_MS) : retryAfterMs);
    });
  }

  private report(claims: readonly Claim[], answer: Admission | RuleRefusal, isShadow: boolean): void {
    if (answer.granted) {
      for (const { rates, key } of claims) this.listener.onGranted(rates.rule.name, key);
      return;
    }
    const { facts } = claims.find(({ rates, key }) => rates.rule.name === answer.rule && key === answer.key)!;
    this.listener.onRefused(answer, facts, isShadow);
  }
}

interface Reserved {
  readonly granted: true;
  settle(outcome: GroupOutcome): Maybe<void>;
}

interface GroupReservation {
  readonly rule: Rule;
  readonly reservation: Reservation;
}

/** The claims that are reserved, grouped by how they are settled. */
function groupsOf(claims: readonly Claim[]): Claim[][] {
  const groups = new Map<string, Claim[]>();
  for (const claim of claims) {
    const { counts, successClears, by } = claim.rates.rule;
    if (countsAtOnce(claim.rates.rule)) continue;
    const terms = `${counts} ${successClears} ${isSharedKey(by) ? by : 'own'}`;
    groups.set(terms, [...(groups.get(terms) ?? []), claim]);
  }
  return [...groups.values()];
}

function settleAll(reservations: readonly GroupReservation[], outcome: GroupOutcome): Maybe<void> {
  const settled = reservations.map(({ rule, reservation }) => reservation[settlementOf(rule, outcome)]());
  return then(all(settled), () => undefined);
}

/** Undoes what came before when the work fails, now or later. */
function orElse<Value>(work: () => Maybe<Value>, undo: () => Maybe<unknown>): Maybe<Value> {
  const undoAndFail = async (error: unknown): Promise<never> => {
    await Promise.resolve(undo()).catch(() => undefined);
    throw error;
  };
  const value = work();
  return value instanceof Promise ? value.catch(undoAndFail) : value;
}

const longer = (a: RateRefusal | undefined, b: RateRefusal | undefined): RateRefusal | undefined =>
  (b?.retryAfterMs ?? 0) > (a?.retryAfterMs ?? 0) ? b : a;

function refusalOf({ rates, facts, key }: Claim, reason: RuleRefusal['reason'], retryAfterMs: number): RuleRefusal {
  const { name, by, windowMs } = rates.rule;
  const limit = rates.limitOf(key);
  return { granted: false, rule: name, event: facts.event, by, key, limit, windowMs, reason, retryAfterMs };
}
