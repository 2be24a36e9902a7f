import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ChangeQuery, PlanView } from '@headgate/api-contracts';
import type { Caller, Change, Plan } from '@headgate/domain-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from './caller.decorator.js';

/** A request for a change, with its caller and its response. */
export class ChangeRequest {
  constructor(
    private readonly caller: Caller,
    private readonly reply: FastifyReply,
  ) {}

  /** Runs the change and presents its result; with `dryRun=true` returns the plan and changes nothing. */
  async answer<Args extends readonly unknown[], Result, View>(
    { dryRun }: ChangeQuery,
    change: Change<Args, Result>,
    args: Args,
    present: (result: Result) => View,
  ): Promise<View | PlanView> {
    if (dryRun !== 'true') return present(await change.run(...args, this.caller));
    const plan = presentPlan(await change.plan(...args));
    // A plan is 200, whatever the status of the change itself.
    void this.reply.status(200);
    return plan;
  }
}

/** Injects the request as a ChangeRequest. */
export const Changing = createParamDecorator((_data: unknown, context: ExecutionContext): ChangeRequest => {
  const http = context.switchToHttp();
  return new ChangeRequest(callerOf(http.getRequest<FastifyRequest>()), http.getResponse<FastifyReply>());
});

const presentPlan = ({ steps, warnings, refusals }: Plan): PlanView => ({
  steps: [...steps],
  warnings: [...warnings],
  refusals: [...refusals],
});
