import type { Type } from '@nestjs/common';
import { GUARDS_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { capRulesOn } from '../rules/cap-rule.js';
import { RateGuard } from '../rates/rate.guard.js';
import { countsEvery, rateRulesOn } from '../rules/rate-rule.js';
import { wasDeclared } from '../rules/declared-routes.js';

/**
 * Whether a controller's method is a route.
 * @throws RangeError when its rules could not do what they say
 */
export function expectSound(controller: Type, method: string): boolean {
  const handler = controller.prototype[method] as object;
  const route = `${controller.name}.${method}`;
  const [rates, caps] = [rateRulesOn(handler), capRulesOn(handler)];
  if (!Reflect.hasMetadata(PATH_METADATA, handler)) {
    expectNoRules(controller, method);
    return false;
  }
  if (rates.length + caps.length === 0 && wasDeclared(controller.prototype as object, method)) {
    throw new RangeError(
      `${route} has lost its rules: it overrides a route that has some, or is wrapped; repeat them.`,
    );
  }
  const names = [...rateRulesOn(controller), ...rates, ...caps].map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new RangeError(`${route} declares ${twice} twice.`);
  expectLastGuard(controller, handler, route);
  return true;
}

/** @throws RangeError when a method that is no HTTP route declares a rule: nothing would carry it out. */
export function expectNoRules(owner: Type, method: string): void {
  const handler = owner.prototype[method] as object;
  if (rateRulesOn(handler).length + capRulesOn(handler).length === 0) return;
  throw new RangeError(`${owner.name}.${method}: @Limited and @Capped bound HTTP routes; this is none.`);
}

/**
 * A rule that counts every request may go by who the caller is, which the guards find out. One that counts failures may
 * stand before a guard that verifies passwords; it is judged by the answer then.
 */
function expectLastGuard(controller: Type, handler: object, route: string): void {
  if (![...rateRulesOn(controller), ...rateRulesOn(handler)].some(countsEvery)) return;
  const guards = [controller, handler].flatMap(
    (target) => (Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as (Type | object)[],
  );
  const later = guards[guards.lastIndexOf(RateGuard) + 1];
  if (later === undefined) return;
  const name = typeof later === 'function' ? later.name : later.constructor.name;
  throw new RangeError(`${route}: @Limited must stand above @UseGuards, so that ${name} runs before its rules.`);
}
