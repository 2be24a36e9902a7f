import { Inject, Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { capRulesOn } from '../rules/cap-rule.js';
import { HeldCounters } from '../caps/held-counters.js';
import { rateRulesOn } from '../rules/rate-rule.js';
import { expectSound, expectNoRules } from './check-route.js';
import { LimitRules } from '../rules/limit-rules.js';
import { LIMITS_OPTIONS, type LimitsOptions } from '../rules/limits-options.js';

/** Defines every rule that a route declares at start, so that whatever would leave a route unbounded stops it. */
@Injectable()
export class RuleDiscovery implements OnModuleInit {
  constructor(
    private readonly rules: LimitRules,
    private readonly counters: HeldCounters,
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    @Inject(LIMITS_OPTIONS) private readonly options: LimitsOptions,
  ) {}

  /** @throws RangeError naming the route or the rule that makes no sense. */
  onModuleInit(): void {
    const [rates, caps] = [new Set<string>(), new Set<string>()];
    for (const controller of classesOf(this.discovery.getControllers())) {
      for (const method of this.#methodsOf(controller)) {
        if (!expectSound(controller, method)) continue;
        const handler = controller.prototype[method] as object;
        for (const rule of [...rateRulesOn(controller), ...rateRulesOn(handler)]) rates.add(this.rules.rate(rule).name);
        for (const rule of capRulesOn(handler)) {
          caps.add(this.rules.cap(rule).name);
          this.counters.of(rule);
        }
      }
    }
    for (const provider of classesOf(this.discovery.getProviders())) {
      for (const method of this.#methodsOf(provider)) expectNoRules(provider, method);
    }
    const { rateTerms = {}, capLimits = {}, shadow = [] } = this.options;
    expectDeclared('rateTerms', Object.keys(rateTerms), rates);
    expectDeclared('capLimits', Object.keys(capLimits), caps);
    expectDeclared('shadow', shadow, new Set([...rates, ...caps]));
  }

  #methodsOf({ prototype }: Type): string[] {
    return this.scanner.getAllMethodNames(prototype as object);
  }
}

/** The classes behind what Nest holds; factories and values have none. */
const classesOf = (wrappers: readonly { metatype: unknown }[]): Type[] => [
  ...new Set(
    wrappers
      .map(({ metatype }) => metatype)
      .filter((metatype): metatype is Type => typeof metatype === 'function' && Boolean(metatype.prototype)),
  ),
];

function expectDeclared(option: string, names: readonly string[], declared: ReadonlySet<string>): void {
  const unknown = names.find((name) => !declared.has(name));
  if (unknown === undefined) return;
  throw new RangeError(
    `${option}.${unknown}: no route declares this rule; there are ${[...declared].join(', ') || 'none'}.`,
  );
}
