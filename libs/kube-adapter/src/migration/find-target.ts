import type { KubeApi } from '../api/kube-api.js';
import type { NodeObject, PodObject, VmiObject } from '../api/object-types.js';
import { NODES, PODS } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { chooseTarget } from './migration-target.js';
import { targetLabels, type Labels } from './target-labels.js';

/** The label of launchers with the uid of their VMI. */
export const CREATED_BY = 'kubevirt.io/created-by';

export interface TargetDeps {
  readonly api: KubeApi;
  readonly discovery: ClusterDiscovery;
}

/**
 * Checks whether a running guest can migrate to a node, or to any if none is given.
 * @returns the node selector to add to the migration
 * @throws DomainError as `chooseTarget`
 */
export async function findTarget({ api, discovery }: TargetDeps, vmi: VmiObject, target?: string): Promise<Labels> {
  const { namespace, uid } = vmi.metadata;
  const source = vmi.status?.nodeName ?? '';
  const [facts, nodes, launchers] = await Promise.all([
    discovery.facts(),
    api.list<NodeObject>(NODES),
    api.list<PodObject>(PODS, { namespace, labelSelector: `${CREATED_BY}=${uid}` }),
  ]);
  const launcher = launchers.find(({ spec }) => spec?.nodeName === source);
  const needed = targetLabels({ vmi, nodes, launcher, selectsMachines: facts.isAtLeast(1, 7) });
  return chooseTarget(nodes, source, target, needed);
}
