import { Change, type Caller, type InstanceRef, type Plan } from '@headgate/domain-contracts';
import type { InstanceActions, InstanceBulkRequest } from '@headgate/instances';

type Args = [request: InstanceBulkRequest, ref: InstanceRef];

/** An action of bulk tasks on one instance, without a task. Its result is the ID of the task that continues it. */
export class ActOnInstance extends Change<Args, string | undefined> {
  constructor(private readonly actions: InstanceActions) {
    super();
  }

  protected override prepare(...args: Args): Args {
    return args;
  }

  protected override planPrepared([request, ref]: Args): Promise<Plan> {
    return this.actions.plan(request, ref);
  }

  protected override runPrepared([request, ref]: Args, caller: Caller): Promise<string | undefined> {
    return this.actions.apply(request, ref, caller);
  }
}
