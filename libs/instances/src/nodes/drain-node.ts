import {
  Change,
  DomainError,
  throwFirstRefusal,
  type Audit,
  type BackendDirectory,
  type Caller,
  type TaskRunner,
} from '@headgate/domain-contracts';
import type { DrainMembers } from './leave-node.js';
import { hasOther, lastNode, type DrainPlan, type DrainRequest, type PlanDrain } from './plan-drain.js';

export interface AcceptedDrain {
  readonly plan: DrainPlan;
  /** The ID of the bulk task; absent when nothing had to leave the node. */
  readonly task?: string;
}

interface PreparedDrain {
  readonly request: DrainRequest;
  readonly plan: DrainPlan;
}

export interface DrainNodeDeps {
  readonly backends: BackendDirectory;
  readonly planDrain: PlanDrain;
  readonly tasks: TaskRunner;
  readonly members: DrainMembers;
  readonly audit: Audit;
}

/** By which the journal names a node. */
export const nodeSubject = (context: string, node: string): string => `node/${context}/${node}`;

/** Cordons a node, and gets its instances off it as one bulk task. The node stays cordoned, however the task ends. */
export class DrainNode extends Change<[request: DrainRequest], AcceptedDrain, PreparedDrain, DrainPlan> {
  constructor(private readonly deps: DrainNodeDeps) {
    super();
    deps.tasks.defineQueue(deps.members);
  }

  protected override async prepare(request: DrainRequest): Promise<PreparedDrain> {
    return { request, plan: await this.deps.planDrain.run(request) };
  }

  protected override async planPrepared({ plan }: PreparedDrain): Promise<DrainPlan> {
    return plan;
  }

  /** @throws DomainError the first refusal, with all of them in `details` */
  protected override async runPrepared({ request, plan }: PreparedDrain, caller: Caller): Promise<AcceptedDrain> {
    const { context, node } = request;
    throwFirstRefusal(plan);
    return this.deps.audit.of(
      caller,
      'drain',
      nodeSubject(context, node),
      () => this.begin(request, plan, caller),
      ({ task }) => (task === undefined ? 'Nothing had to leave it.' : `As the task ${task}.`),
    );
  }

  private async begin(request: DrainRequest, plan: DrainPlan, caller: Caller): Promise<AcceptedDrain> {
    const { backends, tasks } = this.deps;
    const { context, node, atOnce, stopOnError } = request;
    const backend = backends.get(context);
    const scheduling = backend.require('nodeScheduling');
    const isChanged = await scheduling.setSchedulable(node, false);
    try {
      // Two drains that began together may have cordoned the last nodes: both look again, so that one of them sees it.
      if (!hasOther(await backend.require('cluster').nodes(), node)) {
        const { code, reason } = lastNode(node);
        throw new DomainError(code, reason, { details: { refusals: [lastNode(node)] } });
      }
      const refs = plan.members.filter(({ ok }) => ok).map(({ ref }) => ref);
      if (refs.length === 0) return { plan };
      const order = { perHost: atOnce, ...(stopOnError && { stopOnError }) };
      return {
        plan,
        task: await tasks.startBulk({ action: 'drain', drain: { context, node }, ...order }, refs, caller),
      };
    } catch (error) {
      // The failure is reported, and not that it could not be undone.
      if (isChanged) await scheduling.setSchedulable(node, true).catch(() => undefined);
      throw error;
    }
  }
}
