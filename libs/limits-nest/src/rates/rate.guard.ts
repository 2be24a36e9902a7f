import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Claim } from '@headgate/limits-core';
import { type LimitedRequest, httpRoute } from '../http/http-route.js';
import { outcomeOfClosed, whenClosed } from '../http/outcome.js';
import { LimitRules } from '../rules/limit-rules.js';
import { Attempt, type PendingReservation } from './attempt.js';
import { type NamedRateRule, countsEvery, isForbidden, rateRulesOn } from '../rules/rate-rule.js';

interface RuleClaim {
  readonly rule: NamedRateRule;
  readonly claim: Claim;
}

/** Refuses a request that is over a rate of its route or of its controller. */
@Injectable()
export class RateGuard implements CanActivate {
  readonly #passedOnce = new WeakSet<object>();

  constructor(private readonly rules: LimitRules) {}

  /** @throws RateExceeded */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { request, response } = httpRoute(context);
    const ofController = rateRulesOn(context.getClass());
    const ofRoute = rateRulesOn(context.getHandler());
    if (!this.rules.ratesEnabled) return true;
    // A guard of the controller runs before those of the route: with rules in both places the later one decides for all.
    if (ofController.length > 0 && ofRoute.length > 0 && !this.#passedOnce.has(request)) {
      this.#passedOnce.add(request);
      return true;
    }
    const claims = this.#claims([...ofController, ...ofRoute], request);
    const [only] = claims;
    if (claims.length === 1 && countsEvery(only!.rule)) {
      await this.rules.decisions.count(only!.claim.rate, only!.claim.key);
    } else if (claims.length > 0) {
      const attempt = await this.#take(claims, request);
      // What ends before the handler begins (a later guard refuses, an interceptor answers) is judged by its answer.
      if (attempt) whenClosed(response, () => attempt.handled || void attempt.settle(outcomeOfClosed(response)));
    }
    return true;
  }

  #claims(rules: readonly NamedRateRule[], request: LimitedRequest): RuleClaim[] {
    return rules.flatMap((rule) => {
      const key = rule.key(request);
      return key === undefined ? [] : [{ rule, claim: { rate: this.rules.rate(rule), key } }];
    });
  }

  /** What counts in any case counts now; for the rest, the outcome of the attempt decides. */
  async #take(claims: readonly RuleClaim[], request: LimitedRequest): Promise<Attempt | undefined> {
    const groups = [
      ...Map.groupBy(claims, ({ rule }) => (countsEvery(rule) ? undefined : (rule.isFailure ?? isForbidden))),
    ];
    const reservations = await this.rules.decisions.reserveGroups(
      groups.map(([, group]) => group.map(({ claim }) => claim)),
    );
    const pending: PendingReservation[] = [];
    for (const [index, [isFailure]] of groups.entries()) {
      const reservation = reservations[index]!;
      if (isFailure) pending.push({ reservation, isFailure });
      else await reservation.keep();
    }
    return pending.length > 0 ? Attempt.begin(request, pending) : undefined;
  }
}
