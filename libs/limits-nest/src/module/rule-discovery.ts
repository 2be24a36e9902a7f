import { Inject, Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { HeldCounters } from '../caps/held-counters.js';
import { LimitRules } from '../rules/limit-rules.js';
import { LIMITS_OPTIONS, type LimitsOptions } from '../rules/limits-options.js';
import { capRulesOf, rateRulesOf } from '../rules/rule-metadata.js';
import { requireNoRules, validateReferences, validateRoute } from './validate-route.js';

/**
 * Defines the rules of all routes at startup, so that a mistake that would leave a route unlimited prevents the start.
 */
@Injectable()
export class RuleDiscovery implements OnModuleInit {
  constructor(
    private readonly rules: LimitRules,
    private readonly counters: HeldCounters,
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    @Inject(LIMITS_OPTIONS) private readonly options: LimitsOptions,
  ) {}

  /** @throws RangeError naming the invalid route or rule. */
  onModuleInit(): void {
    const defaultRates = this.rules.defaultRates.map((rule) => this.rules.rate(rule).name);
    const [rates, caps] = [new Set(defaultRates), new Set<string>()];
    const routes: [Type, string][] = [];
    for (const controller of classesOf(this.discovery.getControllers())) {
      for (const method of this.methodsOf(controller)) {
        if (!validateRoute(controller, method, defaultRates)) continue;
        routes.push([controller, method]);
        const handler = controller.prototype[method] as object;
        for (const rule of [...rateRulesOf(controller), ...rateRulesOf(handler)]) rates.add(this.rules.rate(rule).name);
        for (const rule of capRulesOf(handler)) {
          caps.add(this.rules.cap(rule).name);
          this.counters.get(rule.counter);
        }
      }
    }
    for (const [controller, method] of routes) validateReferences(controller, method, { rates, caps });
    for (const provider of classesOf(this.discovery.getProviders())) {
      for (const method of this.methodsOf(provider)) requireNoRules(provider, method);
    }
    const { rateOptions = {}, capLimits = {}, shadow = [] } = this.options;
    requireDeclared('rateOptions', Object.keys(rateOptions), rates);
    requireDeclared('capLimits', Object.keys(capLimits), caps);
    requireDeclared('shadow', shadow, new Set([...rates, ...caps]));
  }

  private methodsOf({ prototype }: Type): string[] {
    return this.scanner.getAllMethodNames(prototype as object);
  }
}

/** The classes of Nest's instance wrappers; factories and values have none. */
const classesOf = (wrappers: readonly { metatype: unknown }[]): Type[] => [
  ...new Set(
    wrappers
      .map(({ metatype }) => metatype)
      .filter((metatype): metatype is Type => typeof metatype === 'function' && Boolean(metatype.prototype)),
  ),
];

function requireDeclared(option: string, names: readonly string[], declared: ReadonlySet<string>): void {
  const unknown = names.find((name) => !declared.has(name));
  if (unknown === undefined) return;
  throw new RangeError(
    `${option}.${unknown}: no route declares this rule. Declared rules: ${[...declared].join(', ') || 'none'}.`,
  );
}
