import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { LimitedRequest } from '../http/http-route.js';
import { LimitRules } from '../rules/limit-rules.js';
import { skips } from '../rules/rule-metadata.js';
import { enforceRates } from './enforce-rates.js';

/** Applies the default rates to all HTTP routes that do not skip them, before the guards of controllers and routes. */
@Injectable()
export class DefaultRateGuard implements CanActivate {
  constructor(private readonly rules: LimitRules) {}

  /** @throws RateExceededException */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { defaultRates, ratesEnabled } = this.rules;
    if (defaultRates.length === 0 || !ratesEnabled || context.getType<string>() !== 'http') return true;
    const [controller, handler] = [context.getClass(), context.getHandler()];
    const active = defaultRates
      .filter(({ name }) => !skips(controller, name) && !skips(handler, name))
      .map((rule) => {
        if (!rule.perRoute) return rule;
        const route = `${controller.name}.${handler.name}`;
        return { ...rule, key: async (request: LimitedRequest) => prefixed(route, await rule.key(request)) };
      });
    await enforceRates(this.rules, active, context);
    return true;
  }
}

/** Leaves anything but a text as it is, for the validation of keys. */
const prefixed = (route: string, key: string | undefined): string | undefined =>
  typeof key === 'string' ? `${route} ${key}` : key;
