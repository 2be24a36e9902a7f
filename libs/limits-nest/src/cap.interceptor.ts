import { CapExceeded, type CapReservation } from '@headgate/limits-core';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type Observable, finalize, tap } from 'rxjs';
import type { HeldCounter, NamedCapRule } from './capped.js';
import { LimitRules } from './limit-rules.js';
import type { LimitedRequest } from './request-key.js';
import { CAP_RULE } from './rule-metadata.js';

/** Holds room for a write while its handler runs. */
@Injectable()
export class CapInterceptor implements NestInterceptor {
  constructor(
    private readonly rules: LimitRules,
    private readonly modules: ModuleRef,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const rule = Reflect.getMetadata(CAP_RULE, context.getHandler()) as NamedCapRule;
    const room = await this.#takeRoom(rule, context.switchToHttp().getRequest<LimitedRequest>());
    if (!room) return next.handle();
    return next.handle().pipe(
      tap(() => room.commit()),
      finalize(() => room.release()),
    );
  }

  async #takeRoom(rule: NamedCapRule, request: LimitedRequest): Promise<CapReservation | undefined> {
    const offer = rule.offer(request);
    if (!offer) return undefined;
    const counter = this.modules.get<HeldCounter>(rule.held, { strict: false });
    const answer = await this.rules.ledger.reserve(this.rules.cap(rule), offer, () => counter.count(offer.holder));
    const shadow = this.rules.isShadow(rule.name);
    this.rules.metrics.decided(rule.name, answer.granted ? 'granted' : shadow ? 'shadow_refused' : 'refused');
    if (answer.granted) return answer;
    if (shadow) return this.#beyond(rule, offer.holder, answer.offered);
    throw new CapExceeded(answer);
  }

  /** A write that a cap in shadow lets through is held like any other, so that what it reports next is right. */
  #beyond(rule: NamedCapRule, holder: string, offered: number): CapReservation {
    const { ledger } = this.rules;
    const cap = this.rules.cap(rule);
    const commit = (added = offered) => ledger.reconcile(cap, holder, (ledger.held(cap, holder) ?? 0) + added);
    return { granted: true, commit, release: () => undefined };
  }
}
