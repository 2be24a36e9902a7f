import { suffers } from '../../inherited-faults.js';
import { RESOURCES } from '../../resources.js';
import { isTrue } from '../../types/condition.js';
import type { Node, Pod } from '../../types/core-kinds.js';
import type { SimulationContext } from '../../simulation-context.js';
import { admitsNode, untoleratedTaint } from './node-affinity.js';
import { podRequests, type PodRequests } from './node-load.js';

export interface NodeChoice {
  node?: Node;
  /** The reason when there is none, in the scheduler's words. */
  message: string;
}

/** The least loaded node that fits the pod. */
export function chooseNode(context: SimulationContext, pod: Pod): NodeChoice {
  const nodes = context.store.list<Node>(RESOURCES.node);
  const reasons = new Map<string, number>();
  const requests = podRequests(pod);
  const barred = suffers(context, 'unschedulable', pod);
  const fitting = nodes.filter((node) => {
    const why = barred ? ["node(s) didn't satisfy the injected fault"] : obstacles(context, pod, requests, node);
    for (const reason of why) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    return why.length === 0;
  });
  fitting.sort((a, b) => context.loads.pods(a.metadata.name) - context.loads.pods(b.metadata.name));
  const counted = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  const message =
    nodes.length === 0
      ? 'no nodes available to schedule pods'
      : `0/${nodes.length} nodes are available: ${counted.join(', ')}.`;
  return { node: fitting[0], message };
}

function obstacles(context: SimulationContext, pod: Pod, requests: PodRequests, node: Node): string[] {
  if (node.spec?.unschedulable) return ['node(s) were unschedulable'];
  if (!isTrue(node.status?.conditions, 'Ready'))
    return ['node(s) had untolerated taint {node.kubernetes.io/not-ready: }'];
  const taint = untoleratedTaint(pod, node);
  if (taint) return [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`];
  if (!admitsNode(pod, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  return context.loads.shortages(node, requests);
}
