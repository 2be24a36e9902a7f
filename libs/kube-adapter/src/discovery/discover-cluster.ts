import { SystemClock, type Clock, type DiscoveredEngine } from '@headgate/domain-contracts';
import { isClusterReachable } from '../api/is-cluster-reachable.js';
import { readKubeconfigContexts, type KubeconfigSource } from '../api/kubeconfig-source.js';
import type { KubevirtSettings } from '../kubevirt-settings.js';

/** How long a cluster may take to answer. */
const TIMEOUT_MS = 3000;

/** The current context of the kubeconfig, when its cluster answers. Reads only the version of the cluster. */
export async function discoverCluster(
  kubeconfig: KubeconfigSource = { default: true },
  clock: Clock = new SystemClock(),
): Promise<DiscoveredEngine<KubevirtSettings> | undefined> {
  const contexts = await readKubeconfigContexts(kubeconfig);
  const name = contexts.find(({ current }) => current)?.name;
  if (name === undefined) return undefined;
  if (!(await isClusterReachable({ kubeconfig, kubeContext: name, clock, timeoutMs: TIMEOUT_MS }))) return undefined;
  return {
    context: name,
    settings: { kubeContext: name },
    description: `a cluster: the context ${name} of your kubeconfig`,
  };
}
