import { suffers } from '../../inherited-faults.js';
import { RESOURCES } from '../../resources.js';
import { isTrue } from '../../types/condition.js';
import type { Node, Pod } from '../../types/core-kinds.js';
import type { SimulationContext } from '../../simulation-context.js';
import { admitsNode, untoleratedTaint } from './node-affinity.js';
import { podRequests, type PodRequests } from '../../pods/node-load.js';
import { repelled } from './pod-anti-affinity.js';

export interface NodeChoice {
  node?: Node;
  /** The reason when there is none, in the words of kube-scheduler 1.34. */
  message: string;
}

interface Obstacle {
  reason: string;
  /** Whether it could go away if other pods did. No pod has a priority here, so none does. */
  yields?: boolean;
}

/** The least loaded node that fits the pod. */
export function chooseNode(context: SimulationContext, pod: Pod): NodeChoice {
  const nodes = context.store.list<Node>(RESOURCES.node);
  const requests = podRequests(pod);
  const barred = suffers(context, 'unschedulable', pod);
  const isRepelled = repelled(context, pod);
  const perNode = nodes.map((node) => ({
    node,
    obstacles: barred
      ? [{ reason: "node(s) didn't satisfy the injected fault" }]
      : obstaclesOf(context, pod, requests, node, isRepelled),
  }));
  const fitting = perNode.filter(({ obstacles }) => obstacles.length === 0).map(({ node }) => node);
  fitting.sort((a, b) => context.loads.pods(a.metadata.name) - context.loads.pods(b.metadata.name));
  return { node: fitting[0], message: explain(perNode.map(({ obstacles }) => obstacles)) };
}

function obstaclesOf(
  context: SimulationContext,
  pod: Pod,
  requests: PodRequests,
  node: Node,
  isRepelled: (node: Node) => boolean,
): Obstacle[] {
  const fixed = (reason: string): Obstacle[] => [{ reason }];
  if (node.spec?.unschedulable) return fixed('node(s) were unschedulable');
  if (!isTrue(node.status?.conditions, 'Ready'))
    return fixed('node(s) had untolerated taint {node.kubernetes.io/not-ready: }');
  const taint = untoleratedTaint(pod, node);
  if (taint) return fixed(`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`);
  if (!admitsNode(pod, node)) return fixed("node(s) didn't match Pod's node affinity/selector");
  const shortages = context.loads.shortages(node, requests);
  if (shortages.length > 0) return shortages.map((reason) => ({ reason, yields: true }));
  return isRepelled(node) ? [{ reason: "node(s) didn't match pod anti-affinity rules", yields: true }] : [];
}

function explain(perNode: Obstacle[][]): string {
  if (perNode.length === 0) return 'no nodes available to schedule pods';
  const available = `0/${perNode.length} nodes are available`;
  const reasons = counted(perNode.flatMap((obstacles) => obstacles.map(({ reason }) => reason)));
  const preemption = counted(
    perNode.map((obstacles) =>
      obstacles.every(({ yields }) => yields)
        ? 'No preemption victims found for incoming pod'
        : 'Preemption is not helpful for scheduling',
    ),
  );
  return `${available}: ${reasons}. no new claims to deallocate, preemption: ${available}: ${preemption}.`;
}

function counted(reasons: string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
}
