import { type CountedKey, MAX_LIMIT, type Rate, type RateLimiter } from '@headgate/limits-core';
import { type LimitOverrides, NO_OVERRIDES } from './limit-overrides.js';
import { all, type Maybe, then } from './maybe.js';
import type { Rule, RuleBlock, RuleFacts } from './rule.js';

/** The fastest `gcra` rate of a limiter. */
const MAX_GCRA_PER_MS = 100;
/** Blocks of one key that are counted: 2^20 times the shortest first one is longer than any window. */
const MAX_BLOCKS = 20;

/**
 * The names of the rates of a rule in the limiter. The first one is the rule's own; the others exist for rules with
 * blocks.
 */
export const rateNamesOf = ({ name, block }: Pick<Rule, 'name' | 'block'>): string[] =>
  block ? [name, ...blockRateNamesOf(name)] : [name];

/** The names of the rates that the blocks of a rule have. */
export const blockRateNamesOf = (name: string): string[] => [`${name}.refusals`, `${name}.blocks`, `${name}.block`];

/** A rule with its rates in a limiter. */
export class RuleRates {
  private readonly rate: Rate;
  private readonly blockRates: BlockRates | undefined;
  /** Limits beyond those of a limiter are counted in units of this size, rounded up. */
  private readonly unitSize: number;

  constructor(
    readonly rule: Rule,
    private readonly limiter: RateLimiter,
    private readonly overrides: LimitOverrides = NO_OVERRIDES,
  ) {
    const { limit, windowMs, algorithm, block } = rule;
    const [name = '', refusals = '', blocks = '', blockName = ''] = rateNamesOf(rule);
    this.unitSize = Math.ceil(limit / MAX_LIMIT);
    this.rate = limiter.define(name, { limit: Math.floor(limit / this.unitSize), windowMs, algorithm });
    if (!block) return;
    this.blockRates = {
      refusals: limiter.define(refusals, { limit: block.after, windowMs: block.withinMs }),
      blocks: limiter.define(blocks, { limit: MAX_BLOCKS, windowMs: block.forgetMs }),
      block: limiter.define(blockName, { limit: 1, windowMs: block.maxMs }),
    };
  }

  /** What a request takes from the limit of this rule. */
  costOf({ event, bytes = 0, amount = 1 }: RuleFacts): number {
    const { unit, costs } = this.rule;
    return unit === 'bytes'
      ? Math.max(1, Math.ceil(bytes / this.unitSize))
      : Math.max(1, Math.ceil(((costs[event] ?? 1) * amount) / this.unitSize));
  }

  countedKey(key: string, cost: number): CountedKey {
    const limit = this.overrides.limitOf(this.rule, key);
    return limit === undefined
      ? { rate: this.rate, key, cost }
      : { rate: this.rate, key, cost, limit: this.units(limit) };
  }

  /** The limit of a key. */
  limitOf(key: string): number {
    return this.overrides.limitOf(this.rule, key) ?? this.rule.limit;
  }

  /** The limiter's units of an own limit, within what it can count. */
  private units(limit: number): number {
    const max = this.rule.algorithm === 'gcra' ? Math.min(MAX_LIMIT, this.rule.windowMs * MAX_GCRA_PER_MS) : MAX_LIMIT;
    return Math.max(1, Math.min(max, Math.floor(limit / this.unitSize)));
  }

  /** Milliseconds until the key is no longer blocked. */
  blockedMs(key: string): Maybe<number> {
    if (!this.blockRates) return 0;
    return then(this.limiter.peek(this.blockRates.block, key), ({ closesInMs }) => closesInMs);
  }

  /** Counts a refusal of the key. @returns the length in ms of the block that it leads to; 0 for none */
  countRefusal(key: string): Maybe<number> {
    const { blockRates, limiter } = this;
    const { block } = this.rule;
    if (!block || !blockRates) return 0;
    const start = () => this.startBlock(key, block, blockRates);
    if (block.after === 1) return start();
    // The last refusal is not counted: it starts the block.
    const isLast = limiter.count(blockRates.refusals, key, block.after - 1);
    return then(isLast, (last): Maybe<number> => (last ? start() : 0));
  }

  private startBlock(key: string, { forMs, maxMs }: RuleBlock, { refusals, blocks, block }: BlockRates): Maybe<number> {
    const { limiter } = this;
    return then(limiter.peek(blocks, key), ({ counted }) => {
      const windowMs = Math.min(maxMs, forMs * 2 ** counted);
      const writes = all<unknown>([
        limiter.count(blocks, key),
        limiter.countAll([{ rate: block, key, windowMs }]),
        limiter.reset(refusals, key),
      ]);
      return then(writes, () => windowMs);
    });
  }
}

interface BlockRates {
  readonly refusals: Rate;
  readonly blocks: Rate;
  readonly block: Rate;
}
