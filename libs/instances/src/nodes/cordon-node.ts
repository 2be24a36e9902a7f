import {
  buildPlan,
  Change,
  type Audit,
  type BackendDirectory,
  type Caller,
  type ClusterNode,
  type Plan,
} from '@headgate/domain-contracts';
import { nodeSubject } from './drain-node.js';
import { expectNode, hasOther } from './plan-drain.js';

interface PreparedCordon {
  readonly context: string;
  readonly node: ClusterNode;
  readonly nodes: readonly ClusterNode[];
  readonly isSchedulable: boolean;
}

/** Cordons a node, so that nothing new is started on it, or uncordons it. Its result: whether the node was changed. */
export class CordonNode extends Change<
  [context: string, node: string, isSchedulable: boolean],
  boolean,
  PreparedCordon
> {
  constructor(
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
  ) {
    super();
  }

  /** @throws DomainError CONTEXT_NOT_FOUND, NODE_NOT_FOUND, NOT_SUPPORTED */
  protected override async prepare(context: string, name: string, isSchedulable: boolean): Promise<PreparedCordon> {
    const backend = this.backends.get(context);
    backend.require('nodeScheduling');
    const nodes = await backend.require('cluster').nodes();
    return { context, node: expectNode(nodes, name), nodes, isSchedulable };
  }

  protected override async planPrepared({ node: { name }, nodes, isSchedulable }: PreparedCordon): Promise<Plan> {
    if (isSchedulable)
      return buildPlan([{ name: 'uncordon', detail: `${name} takes new instances again.` }], {
        warnings: ['A drain of the node that goes on ends: what has not left it yet stays.'],
      });
    const detail = `${name} takes no new instances. Those that run on it run on.`;
    const isLast = !hasOther(nodes, name);
    return buildPlan([{ name: 'cordon', detail }], {
      warnings: isLast ? ['No other node takes instances: nothing can be started until one does.'] : [],
    });
  }

  protected override runPrepared({ context, node, isSchedulable }: PreparedCordon, caller: Caller): Promise<boolean> {
    const scheduling = this.backends.get(context).require('nodeScheduling');
    return this.audit.of(caller, isSchedulable ? 'uncordon' : 'cordon', nodeSubject(context, node.name), () =>
      scheduling.setSchedulable(node.name, isSchedulable),
    );
  }
}
