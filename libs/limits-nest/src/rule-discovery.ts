import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { NamedCapRule } from './capped.js';
import { LimitRules } from './limit-rules.js';
import type { NamedRateRule } from './limited.js';
import { LIMITS_OPTIONS, type LimitsOptions } from './limits-options.js';
import { CAP_RULE, RATE_RULES } from './rule-metadata.js';

/** Defines every rule that a route declares at start, so that a bad limit or a misspelt name stops it. */
@Injectable()
export class RuleDiscovery implements OnModuleInit {
  constructor(
    private readonly rules: LimitRules,
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    @Inject(LIMITS_OPTIONS) private readonly options: LimitsOptions,
  ) {}

  /** @throws RangeError naming the rule whose terms make no sense, or the name that no route declares. */
  onModuleInit(): void {
    const [rates, caps] = [new Set<string>(), new Set<string>()];
    for (const handler of this.#handlers()) {
      for (const rule of (Reflect.getMetadata(RATE_RULES, handler) ?? []) as NamedRateRule[]) {
        rates.add(this.rules.rate(rule).name);
      }
      const cap = Reflect.getMetadata(CAP_RULE, handler) as NamedCapRule | undefined;
      if (cap) caps.add(this.rules.cap(cap).name);
    }
    const { rateTerms = {}, capLimits = {}, shadow = [] } = this.options;
    expectDeclared('rateTerms', Object.keys(rateTerms), rates);
    expectDeclared('capLimits', Object.keys(capLimits), caps);
    expectDeclared('shadow', shadow, new Set([...rates, ...caps]));
  }

  *#handlers(): Generator<object> {
    for (const { metatype } of this.discovery.getControllers()) {
      const prototype = metatype?.prototype as Record<string, object> | undefined;
      for (const name of this.scanner.getAllMethodNames(prototype ?? {})) yield prototype![name]!;
    }
  }
}

function expectDeclared(option: string, names: readonly string[], declared: ReadonlySet<string>): void {
  const unknown = names.find((name) => !declared.has(name));
  if (unknown === undefined) return;
  throw new RangeError(
    `${option}.${unknown}: no route declares this rule; there are ${[...declared].join(', ') || 'none'}.`,
  );
}
