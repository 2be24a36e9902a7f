import { CapLedger, RateLimiter, MemoryRateLimiter } from '@headgate/limits-core';
import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { LiveConfig } from '../config/live-config.js';
import { RefusalLog } from '../reports/refusal-log.js';
import { Overrides } from '../state/overrides.js';
import type { OperatorIdentity } from '../state/operator-entry.js';
import { Lifts } from './lifts.js';
import { Operator } from './operator.guard.js';
import { countParameter, optionalReason, required } from './parameters.js';
import { All, Controller, Delete, Get, Param, Query } from '@nestjs/common';

const DEFAULT_REFUSALS = 100;

/** The rates and caps as the operator sees them: their terms, their counts, and a way to reset a key. */
@Controller()
export class OperatorController {
  constructor(
    private readonly windows: MemoryRateLimiter,
    private readonly store: RateLimiter,
    private readonly ledger: CapLedger,
    private readonly refusals: RefusalLog,
    private readonly overrides: Overrides,
    private readonly config: LiveConfig,
    private readonly lifts: Lifts,
  ) {}

  /** The rates and caps by name, with their terms. */
  @Get('rules')
  rules(): JsonObject {
    return {
      rates: this.windows.rates.map(({ name, limit, windowMs }) => ({ name, limit, windowMs, ...this.termsOf(name) })),
      caps: this.ledger.caps.map(({ name, limit, resource }) => ({ name, limit, what: resource })),
      keys: this.windows.stats.keys,
    };
  }

  /** What a rule counts, and under which keys; nothing for a rate of its blocks. */
  private termsOf(name: string): JsonObject {
    const rule = this.config.current.rules.rules.find((one) => one.name === name);
    if (!rule) return {};
    const { on, by, shadow, unit, limit } = rule;
    return { on: [...on], by, shadow, unit, limit };
  }

  @Get('rates/:rate')
  async inspect(@Param('rate') rate: string, @Query('key') key: unknown): Promise<JsonObject> {
    const found = this.lifts.rate(rate);
    const text = required(key, 'key');
    return { rate, key: text, ...(await this.store.peek(found, text)), ...this.ownLimit(rate, text) };
  }

  /** The limit that an override gives the key. */
  private ownLimit(rate: string, key: string): { limit?: number } {
    const rule = this.config.current.rules.rules.find(({ name }) => name === rate);
    const limit = rule && this.overrides.limitOf(rule, key);
    return limit === undefined ? {} : { limit };
  }

  /** Resets a key's window, its block and everything that leads to the next one. */
  @Delete('rates/:rate')
  async reset(
    @Param('rate') rate: string,
    @Query('key') key: unknown,
    @Query('reason') reason: unknown,
    @Operator() operator: OperatorIdentity,
  ): Promise<JsonObject> {
    this.lifts.rate(rate);
    const text = required(key, 'key');
    const { lifted } = await this.lifts.lift(operator, rate, text, optionalReason(reason));
    return { rate, key: text, forgiven: lifted };
  }

  /** The known counts of a holder: a user ID, or a user ID, a space and the device or room. Null: not counted yet. */
  @Get('held')
  held(@Query('holder') holder: unknown): JsonObject {
    const text = required(holder, 'holder');
    const caps = this.ledger.caps.map((cap) => [
      cap.name,
      { held: this.ledger.held(cap, text) ?? null, limit: cap.limit },
    ]);
    return { holder: text, caps: Object.fromEntries(caps) };
  }

  /** The latest refusals, the newest first, of one rule or of all. */
  @Get('refusals')
  latestRefusals(@Query('rule') rule: unknown, @Query('limit') limit: unknown): JsonObject {
    if (rule !== undefined && typeof rule !== 'string') throw MatrixError.invalidParam('rule must be given once.');
    const count = countParameter('limit', limit, DEFAULT_REFUSALS);
    return { refusals: this.refusals.latest(rule, count) as unknown as JsonObject[] };
  }

  @All('*')
  unknown(): never {
    throw MatrixError.unrecognized();
  }
}
