import { markSkipped } from '../rules/rule-metadata.js';

/**
 * Exempts a route, or all routes of a controller, from rates: from the default rates of the module and, on a route,
 * from those of its controller.
 * @param names the rates to skip; all of them if there are none
 */
export function SkipRateLimit(...names: readonly string[]): ClassDecorator & MethodDecorator {
  return (target: object, _property?: string | symbol, descriptor?: PropertyDescriptor) =>
    markSkipped((descriptor?.value ?? target) as object, names);
}
