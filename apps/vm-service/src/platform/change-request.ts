import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ChangeQuery, PlanView } from '@headgate/api-contracts';
import type { Caller, Change, Plan } from '@headgate/domain-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../identity/caller.decorator.js';

/** A request that changes something: who asks, and where the answer goes. */
export class ChangeRequest {
  constructor(
    private readonly caller: Caller,
    private readonly reply: FastifyReply,
  ) {}

  /** Carries the change out and presents its result; with `dryRun=true` the answer is the plan, and nothing changes. */
  async answer<Args extends readonly unknown[], Result, View>(
    { dryRun }: ChangeQuery,
    change: Change<Args, Result>,
    args: Args,
    present: (result: Result) => View,
  ): Promise<View | PlanView> {
    if (dryRun !== 'true') return present(await change.run(...args, this.caller));
    const plan = presentPlan(await change.plan(...args));
    // A plan is an answer like any other, whatever status the real thing has.
    void this.reply.status(200);
    return plan;
  }
}

/** The request as something to be carried out or rehearsed. */
export const Changing = createParamDecorator((_data: unknown, context: ExecutionContext): ChangeRequest => {
  const http = context.switchToHttp();
  return new ChangeRequest(callerOf(http.getRequest<FastifyRequest>()), http.getResponse<FastifyReply>());
});

const presentPlan = ({ steps, warnings, refusals }: Plan): PlanView => ({
  steps: [...steps],
  warnings: [...warnings],
  refusals: [...refusals],
});
