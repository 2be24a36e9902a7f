import type { RateKey } from '@headgate/limits-core';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type LimitedRequest, httpRoute } from '../http/http-route.js';
import { onceClosed, outcomeOfClosed } from '../http/outcome.js';
import { LimitRules } from '../rules/limit-rules.js';
import { type NamedRateRule, countsEvery, isForbidden } from '../rules/rate-rule.js';
import { rateRulesOf } from '../rules/rule-metadata.js';
import { Attempt, type ConditionalReservation } from './attempt.js';

interface RuleKey {
  readonly rule: NamedRateRule;
  readonly rateKey: RateKey;
}

/** Refuses a request that exceeds a rate of its route or controller. */
@Injectable()
export class RateGuard implements CanActivate {
  private readonly passedController = new WeakSet<object>();

  constructor(private readonly rules: LimitRules) {}

  /** @throws RateExceeded */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { request, response } = httpRoute(context);
    const controllerRules = rateRulesOf(context.getClass());
    const routeRules = rateRulesOf(context.getHandler());
    if (!this.rules.ratesEnabled) return true;
    // Guards of the controller run before those of the route: with rules in both places, the second run applies them all.
    if (controllerRules.length > 0 && routeRules.length > 0 && !this.passedController.has(request)) {
      this.passedController.add(request);
      return true;
    }
    const keys = this.keysOf([...controllerRules, ...routeRules], request);
    const [only] = keys;
    if (keys.length === 1 && countsEvery(only!.rule)) {
      await this.rules.enforcer.count(only!.rateKey.rate, only!.rateKey.key);
    } else if (keys.length > 0) {
      const attempt = await this.reserve(keys, request);
      // A request that ends before its handler starts (a later guard refuses, an interceptor responds) is judged by its response.
      if (attempt) onceClosed(response, () => attempt.handled || void attempt.settle(outcomeOfClosed(response)));
    }
    return true;
  }

  private keysOf(rules: readonly NamedRateRule[], request: LimitedRequest): RuleKey[] {
    return rules.flatMap((rule) => {
      const key = rule.key(request);
      return key === undefined ? [] : [{ rule, rateKey: { rate: this.rules.rate(rule), key } }];
    });
  }

  /** Rules that count every request count it now; the others wait for the outcome of the attempt. */
  private async reserve(keys: readonly RuleKey[], request: LimitedRequest): Promise<Attempt | undefined> {
    const groups = [
      ...Map.groupBy(keys, ({ rule }) => (countsEvery(rule) ? undefined : (rule.isFailure ?? isForbidden))),
    ];
    const reservations = await this.rules.enforcer.reserveGroups(
      groups.map(([, group]) => group.map(({ rateKey }) => rateKey)),
    );
    const conditional: ConditionalReservation[] = [];
    for (const [index, [isFailure]] of groups.entries()) {
      const reservation = reservations[index]!;
      if (isFailure) conditional.push({ reservation, isFailure });
      else await reservation.commit();
    }
    return conditional.length > 0 ? Attempt.begin(request, conditional) : undefined;
  }
}
