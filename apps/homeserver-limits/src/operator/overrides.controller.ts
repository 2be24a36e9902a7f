import { CapLedger } from '@headgate/limits-core';
import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import type { Logger } from 'pino';
import { MAX_CAP } from '../config/fields.js';
import { LiveConfig } from '../config/live-config.js';
import { type Override, readOverride } from '../state/override.js';
import { Overrides } from '../state/overrides.js';
import type { OperatorIdentity } from '../state/operator-entry.js';
import { OperatorJournal } from '../state/operator-journal.js';
import { Operator } from './operator.guard.js';
import { countParameter, optionalReason, required } from './parameters.js';

const DEFAULT_ENTRIES = 100;

/** Receives each change. */
export abstract class OverrideLog {
  abstract info: Logger['info'];
}

/** The limits of single users, rooms and other keys in place of those of their rules. */
@Controller('overrides')
export class OverridesController {
  constructor(
    private readonly overrides: Overrides,
    private readonly config: LiveConfig,
    private readonly ledger: CapLedger,
    private readonly log: OverrideLog,
    private readonly operators: OperatorJournal,
  ) {}

  @Get()
  list(): JsonObject {
    return { overrides: this.overrides.list().map(shown) };
  }

  /** The latest changes, the newest first. */
  @Get('journal')
  journal(@Query('limit') limit: unknown): JsonObject {
    const entries = this.overrides.journal(countParameter('limit', limit, DEFAULT_ENTRIES));
    return {
      journal: entries.map(({ timeMs, action, ...override }) => ({
        time: new Date(timeMs).toISOString(),
        action,
        ...shown(override),
      })),
    };
  }

  @Put(':rule')
  async set(
    @Param('rule') rule: string,
    @Query('key') key: unknown,
    @Body() body: unknown,
    @Operator() operator: OperatorIdentity,
  ): Promise<JsonObject> {
    const caps = this.ledger.caps.map(({ name, limit }) => ({ name, by: 'user', limit, maxLimit: MAX_CAP }) as const);
    const rules = [...this.config.current.rules.rules, ...caps];
    const override = readOverride(rule, required(key, 'key'), body, { rules, nowMs: Date.now() });
    const { reason, factor, limit, untilMs } = override;
    const detail = `${factor === undefined ? limit : `${factor} times`} until ${new Date(untilMs).toISOString()}`;
    const action = { ...operator, action: 'set_override', rule, key: override.key, reason, detail } as const;
    await this.operators.perform(action, () => this.overrides.set(override));
    const answer = shown(override);
    this.log.info(answer, 'an override was set');
    return answer;
  }

  @Delete(':rule')
  async remove(
    @Param('rule') rule: string,
    @Query('key') key: unknown,
    @Query('reason') reason: unknown,
    @Operator() operator: OperatorIdentity,
  ): Promise<JsonObject> {
    const text = required(key, 'key');
    const action = { ...operator, action: 'delete_override', rule, key: text, reason: optionalReason(reason) } as const;
    const existed = await this.operators.perform(
      action,
      () => this.overrides.delete(rule, text),
      (hasChanged) => hasChanged,
    );
    if (!existed) throw MatrixError.notFound('There is no such override.');
    this.log.info({ rule, key: text }, 'an override was deleted');
    return { rule, key: text };
  }
}

const shown = ({ untilMs, ...override }: Override) => ({ ...override, until: new Date(untilMs).toISOString() });
