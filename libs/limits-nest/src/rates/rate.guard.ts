import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { httpRoute } from '../http/http-route.js';
import { LimitRules } from '../rules/limit-rules.js';
import { rateRulesOf, skips } from '../rules/rule-metadata.js';
import { enforceRates } from './enforce-rates.js';

/** Refuses a request that exceeds a rate of its route or controller. */
@Injectable()
export class RateGuard implements CanActivate {
  private readonly passedController = new WeakSet<object>();

  constructor(private readonly rules: LimitRules) {}

  /** @throws RateExceededException */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { request } = httpRoute(context);
    const handler = context.getHandler();
    const controllerRules = rateRulesOf(context.getClass());
    const routeRules = rateRulesOf(handler);
    if (!this.rules.ratesEnabled) return true;
    // Guards of the controller run before those of the route: with rules in both places, the second run applies them
    // all.
    if (controllerRules.length > 0 && routeRules.length > 0 && !this.passedController.has(request)) {
      this.passedController.add(request);
      return true;
    }
    const active = [...controllerRules.filter(({ name }) => !skips(handler, name)), ...routeRules];
    await enforceRates(this.rules, active, context);
    return true;
  }
}
