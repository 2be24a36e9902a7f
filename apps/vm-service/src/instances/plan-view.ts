import type { ChangeQuery, PlanView } from '@headgate/api-contracts';
import type { Plan } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';

/** Whether the caller only wants to know what would be done. */
export const isRehearsal = ({ dryRun }: ChangeQuery): boolean => dryRun === 'true';

/** A plan is an answer like any other: 200, whatever the real thing would answer. */
export function answerPlan(reply: FastifyReply, { steps, warnings, refusals }: Plan): PlanView {
  void reply.status(200);
  return { steps: [...steps], warnings: [...warnings], refusals: [...refusals] };
}
