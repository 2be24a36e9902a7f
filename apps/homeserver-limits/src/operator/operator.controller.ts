import { CapLedger, type Rate, RateLimiter, MemoryRateLimiter } from '@headgate/limits-core';
import { blockRateNamesOf } from '@headgate/limit-rules';
import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { LiveConfig } from '../config/live-config.js';
import { RefusalLog } from '../reports/refusal-log.js';
import { Overrides } from '../state/overrides.js';
import { countParameter, required } from './parameters.js';
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
  ) {}

  /** The rates and caps by name, with their terms. */
  @Get('rules')
  rules(): JsonObject {
    return {
      rates: this.windows.rates.map(({ name, limit, windowMs }) => ({ name, limit, windowMs })),
      caps: this.ledger.caps.map(({ name, limit, resource }) => ({ name, limit, what: resource })),
      keys: this.windows.stats.keys,
    };
  }

  @Get('rates/:rate')
  async inspect(@Param('rate') rate: string, @Query('key') key: unknown): Promise<JsonObject> {
    const found = this.rate(rate);
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
  async reset(@Param('rate') rate: string, @Query('key') key: unknown): Promise<JsonObject> {
    const found = this.rate(rate);
    const text = required(key, 'key');
    const blockRates = blockRateNamesOf(rate).map((name) => this.windows.rate(name));
    const rates = [found, ...blockRates.filter((one) => one !== undefined)];
    const existed = await Promise.all(rates.map((one) => this.store.reset(one, text)));
    return { rate, key: text, forgiven: existed.includes(true) };
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

  private rate(name: string): Rate {
    const rate = this.windows.rate(name);
    if (!rate) throw MatrixError.notFound('There is no such rate.');
    return rate;
  }
}
