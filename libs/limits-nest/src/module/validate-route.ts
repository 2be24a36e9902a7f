import type { Type } from '@nestjs/common';
import { GUARDS_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { RateGuard } from '../rates/rate.guard.js';
import { countsEvery } from '../rules/rate-rule.js';
import { capRulesOf, freeRulesOf, rateRulesOf, skippedRatesOf, wasDeclared } from '../rules/rule-metadata.js';

/**
 * Returns whether a controller's method is a route.
 * @throws RangeError when its rules can't work as declared
 */
export function validateRoute(controller: Type, method: string, defaultRates: readonly string[]): boolean {
  const handler = controller.prototype[method] as object;
  const route = `${controller.name}.${method}`;
  const [rates, caps] = [rateRulesOf(handler), capRulesOf(handler)];
  if (!Reflect.hasMetadata(PATH_METADATA, handler)) {
    requireNoRules(controller, method);
    return false;
  }
  if (
    rates.length + caps.length + freeRulesOf(handler).length === 0 &&
    wasDeclared(controller.prototype as object, method)
  ) {
    throw new RangeError(
      `${route} has lost its rules: it overrides a route with rules or is wrapped by a decorator. Repeat the rules.`,
    );
  }
  const names = [...defaultRates, ...[...rateRulesOf(controller), ...rates, ...caps].map(({ name }) => name)];
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new RangeError(`${route} declares ${duplicate} twice.`);
  requireLastGuard(controller, handler, route);
  return true;
}

/** @throws RangeError when a route skips a rate or frees a cap that does not exist */
export function validateReferences(
  controller: Type,
  method: string,
  known: { readonly rates: ReadonlySet<string>; readonly caps: ReadonlySet<string> },
): void {
  const handler = controller.prototype[method] as object;
  const route = `${controller.name}.${method}`;
  const skipped = [skippedRatesOf(controller) ?? [], skippedRatesOf(handler) ?? []].flat();
  const rate = skipped.find((name) => !known.rates.has(name));
  if (rate !== undefined) throw new RangeError(`${route}: @SkipRateLimit names ${rate}, which is not a rate.`);
  const cap = freeRulesOf(handler).find(({ name }) => !known.caps.has(name));
  if (cap) throw new RangeError(`${route}: @Frees names ${cap.name}, which is not a cap.`);
}

/** @throws RangeError when a method that is not an HTTP route declares a rule, which would have no effect. */
export function requireNoRules(owner: Type, method: string): void {
  const handler = owner.prototype[method] as object;
  if (rateRulesOf(handler).length + capRulesOf(handler).length + freeRulesOf(handler).length === 0) return;
  throw new RangeError(`${owner.name}.${method}: @RateLimit and @Capped only support HTTP routes.`);
}

/**
 * The key of a rule that counts every request may depend on the caller, whom the guards identify. A rule that counts
 * failures may precede a guard that verifies passwords; it is then judged by the response.
 */
function requireLastGuard(controller: Type, handler: object, route: string): void {
  if (![...rateRulesOf(controller), ...rateRulesOf(handler)].some(countsEvery)) return;
  const guards = [controller, handler].flatMap(
    (target) => (Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as (Type | object)[],
  );
  const later = guards[guards.lastIndexOf(RateGuard) + 1];
  if (later === undefined) return;
  const name = typeof later === 'function' ? later.name : later.constructor.name;
  throw new RangeError(`${route}: @RateLimit must be above @UseGuards, so that ${name} runs before its rules.`);
}
