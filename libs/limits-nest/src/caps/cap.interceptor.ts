import { CapExceeded, type CapReservation, type CapWrite } from '@headgate/limits-core';
import {
  BadRequestException,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Observable } from 'rxjs';
import { CapExceededException } from '../errors/limit-exceptions.js';
import { type LimitedRequest, httpRoute } from '../http/http-route.js';
import { type Outcome, reportOutcome } from '../http/outcome.js';
import type { HeldCounter, NamedCapRule } from '../rules/cap-rule.js';
import { LimitRules } from '../rules/limit-rules.js';
import { capRulesOf } from '../rules/rule-metadata.js';
import { HeldCounters } from './held-counters.js';

/** Settles the reservation of one cap. */
type Settle = (outcome: Outcome) => void;

/** Reserves the amount of a write while its handler runs. */
@Injectable()
export class CapInterceptor implements NestInterceptor {
  constructor(
    private readonly rules: LimitRules,
    private readonly counters: HeldCounters,
  ) {}

  /** @throws CapExceededException */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const { request, response } = httpRoute(context);
    const reserved: Settle[] = [];
    const settleAll: Settle = (outcome) => reserved.forEach((settle) => settle(outcome));
    try {
      for (const rule of capRulesOf(context.getHandler())) reserved.push(...(await this.reserve(rule, request)));
    } catch (error) {
      settleAll({ kind: 'failed', error });
      throw error;
    }
    return reserved.length === 0 ? next.handle() : next.handle().pipe(reportOutcome(response, settleAll));
  }

  private async reserve(rule: NamedCapRule, request: LimitedRequest): Promise<Settle[]> {
    const counter = this.counters.get(rule.counter);
    const write = await readWrite(rule, request, counter);
    if (!write) return [];
    const { ledger } = this.rules;
    const cap = this.rules.cap(rule);
    const answer = await ledger.reserve(cap, write, () => counter.count(write.holder));
    const shadow = this.rules.isShadow(rule.name);
    this.rules.metrics.recordDecision(rule.name, answer.granted ? 'granted' : shadow ? 'shadow_refused' : 'refused');
    if (!answer.granted && !shadow) throw new CapExceededException(new CapExceeded(answer));
    const reservation = answer.granted ? answer : this.reserveBeyondCap(rule, write.holder, answer.requested);
    return [
      (outcome) => {
        if (outcome.kind === 'succeeded') reservation.commit();
        else reservation.release();
        // The write may or may not have happened, so the next one counts again.
        if (outcome.kind === 'unknown') ledger.invalidate(cap, write.holder);
      },
    ];
  }

  /** A write that a cap in shadow mode lets through still counts, so that later reports are correct. */
  private reserveBeyondCap(rule: NamedCapRule, holder: string, amount: number): CapReservation {
    const { ledger } = this.rules;
    const cap = this.rules.cap(rule);
    const commit = () => ledger.reconcile(cap, holder, (ledger.held(cap, holder) ?? 0) + amount);
    return { granted: true, commit, release: () => undefined };
  }
}

/**
 * Writes often come from a body that a caller controls: a malformed one is refused. An item that the holder has is a
 * rewrite.
 */
async function readWrite(
  rule: NamedCapRule,
  request: LimitedRequest,
  counter: HeldCounter,
): Promise<CapWrite | undefined> {
  let write: CapWrite | undefined;
  try {
    write = await rule.write(request);
  } catch (cause) {
    // The function tried to read a member of a missing or malformed body.
    if (cause instanceof TypeError) throw malformed(rule, cause);
    throw cause;
  }
  if (!write) return undefined;
  const { holder, amount = 1, id, rewrite } = write;
  const isValid =
    typeof holder === 'string' &&
    Number.isInteger(amount) &&
    amount >= 0 &&
    (id === undefined || typeof id === 'string');
  if (!isValid) throw malformed(rule);
  if (rewrite || id === undefined || !counter.has) return write;
  return (await counter.has(holder, id)) ? { ...write, rewrite: true } : write;
}

const malformed = ({ name }: NamedCapRule, cause?: unknown): BadRequestException =>
  new BadRequestException(`The request is not a valid write for ${name}.`, { cause });
