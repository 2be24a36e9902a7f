import { CapExceeded, type CapReservation } from '@headgate/limits-core';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { type LimitedRequest, httpRoute } from '../http/http-route.js';
import { type Outcome, judged } from '../http/outcome.js';
import { LimitRules } from '../rules/limit-rules.js';
import { type NamedCapRule, capRulesOn } from '../rules/cap-rule.js';
import { HeldCounters } from './held-counters.js';

/** Room that a write holds under one cap. */
type Room = (outcome: Outcome) => void;

/** Holds room for a write while its handler runs. */
@Injectable()
export class CapInterceptor implements NestInterceptor {
  constructor(
    private readonly rules: LimitRules,
    private readonly counters: HeldCounters,
  ) {}

  /** @throws CapExceeded */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const { request, response } = httpRoute(context);
    const rooms: Room[] = [];
    const settle = (outcome: Outcome): void => rooms.forEach((room) => room(outcome));
    try {
      for (const rule of capRulesOn(context.getHandler())) rooms.push(...(await this.#takeRoom(rule, request)));
    } catch (error) {
      settle({ kind: 'failed', error });
      throw error;
    }
    return rooms.length === 0 ? next.handle() : next.handle().pipe(judged(response, settle));
  }

  async #takeRoom(rule: NamedCapRule, request: LimitedRequest): Promise<Room[]> {
    const offer = rule.offer(request);
    if (!offer) return [];
    const { ledger } = this.rules;
    const cap = this.rules.cap(rule);
    const counter = this.counters.of(rule);
    const answer = await ledger.reserve(cap, offer, () => counter.count(offer.holder));
    const shadow = this.rules.isShadow(rule.name);
    this.rules.metrics.decided(rule.name, answer.granted ? 'granted' : shadow ? 'shadow_refused' : 'refused');
    if (!answer.granted && !shadow) throw new CapExceeded(answer);
    const taken = answer.granted ? answer : this.#beyond(rule, offer.holder, answer.offered);
    return [
      (outcome) => {
        if (outcome.kind === 'succeeded') taken.commit();
        else taken.release();
        // Nobody saw whether it was written: the count is asked for again.
        if (outcome.kind === 'unseen') ledger.doubt(cap, offer.holder);
      },
    ];
  }

  /** A write that a cap in shadow lets through is held like any other, so that what it reports next is right. */
  #beyond(rule: NamedCapRule, holder: string, offered: number): CapReservation {
    const { ledger } = this.rules;
    const cap = this.rules.cap(rule);
    const commit = () => ledger.reconcile(cap, holder, (ledger.held(cap, holder) ?? 0) + offered);
    return { granted: true, commit, release: () => undefined };
  }
}
