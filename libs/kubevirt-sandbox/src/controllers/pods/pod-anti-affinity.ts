import { RESOURCES } from '../../resources.js';
import type { Node, Pod } from '../../types/core-kinds.js';
import type { SimulationContext } from '../../simulation-context.js';
import type { Affinity, PodAffinityTerm } from './affinity.js';

const isOver = ({ status }: Pod): boolean => ['Succeeded', 'Failed'].includes(status?.phase ?? '');

/**
 * The nodes that a pod's required anti-affinity excludes. Only pods of the same owner count, such as the launchers of a
 * VMI: there is an index of them, so that a large cluster is not searched for every pod.
 */
export function repelled(context: SimulationContext, pod: Pod): (node: Node) => boolean {
  const terms =
    (pod.spec.affinity as Affinity | undefined)?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (terms.length === 0) return () => false;
  const placed = (pod.metadata.ownerReferences ?? [])
    .flatMap(({ uid }) => context.store.ownedBy<Pod>(RESOURCES.pod, uid))
    .filter((other) => other.metadata.uid !== pod.metadata.uid && other.spec.nodeName && !isOver(other));
  const domains = terms.map((term) => ({ key: term.topologyKey, values: domainsOf(context, term, placed) }));
  return ({ metadata }) => domains.some(({ key, values }) => values.has(metadata.labels?.[key]));
}

function domainsOf(context: SimulationContext, term: PodAffinityTerm, placed: Pod[]): Set<string | undefined> {
  const wanted = Object.entries(term.labelSelector?.matchLabels ?? {});
  const matching = placed.filter(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value));
  const nodes = matching.map(({ spec }) => context.find<Node>(RESOURCES.node, undefined, spec.nodeName!));
  return new Set(nodes.flatMap((node) => node?.metadata.labels?.[term.topologyKey] ?? []));
}
