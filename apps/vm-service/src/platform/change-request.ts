import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ChangeQuery, PlanStepView, PlanView } from '@headgate/api-contracts';
import type { AnyPlan, Caller, Change, Plan } from '@headgate/domain-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from './caller.decorator.js';

/** A request for a change, with its caller and its response. */
export class ChangeRequest {
  constructor(
    private readonly caller: Caller,
    private readonly reply: FastifyReply,
  ) {}

  /** Runs the change and presents its result; with `dryRun=true` returns the plan and changes nothing. */
  answer<Args extends readonly unknown[], Result, Prepared, View>(
    query: ChangeQuery,
    change: Change<Args, Result, Prepared>,
    args: Args,
    present: (result: Result) => View,
  ): Promise<View | PlanView> {
    return this.answerWith(query, change, args, { result: present, plan: presentPlan });
  }

  /** The same for a change that has plans of its own. */
  async answerWith<Args extends readonly unknown[], Result, Prepared, Shown extends AnyPlan, View, ShownView>(
    { dryRun }: ChangeQuery,
    change: Change<Args, Result, Prepared, Shown>,
    args: Args,
    present: { readonly result: (result: Result) => View; readonly plan: (plan: Shown) => ShownView },
  ): Promise<View | ShownView> {
    if (dryRun !== 'true') return present.result(await change.run(...args, this.caller));
    const plan = present.plan(await change.plan(...args));
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

export const presentPlan = ({ steps, warnings, refusals, seconds, interruption }: Plan): PlanView => ({
  steps: presentSteps(steps),
  warnings: [...warnings],
  refusals: [...refusals],
  ...(seconds && { seconds }),
  ...(interruption && { interruption }),
});

export const presentSteps = (steps: Plan['steps']): PlanStepView[] =>
  steps.map(({ reportedAs: _reportedAs, ...step }) => step);
