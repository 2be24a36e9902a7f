import { SystemClock } from '@headgate/domain-contracts';

/** How long a cluster may take to answer before the next engine is looked for, in milliseconds. */
const ANSWER_WITHIN = 3000;

/** The kubeconfig's current context, when its cluster answers. Reads nothing of the cluster but its version. */
export async function findCluster(): Promise<{ name: string; kind: 'kubevirt'; kubeContext: string } | undefined> {
  const { isClusterReachable, readKubeconfigContexts } = await import('@headgate/kube-adapter');
  const contexts = await readKubeconfigContexts();
  const current = contexts.find((context) => context.current);
  if (!current) return undefined;
  const reachable = await isClusterReachable({
    kubeconfig: { default: true },
    kubeContext: current.name,
    clock: new SystemClock(),
    timeoutMs: ANSWER_WITHIN,
  });
  return reachable ? { name: current.name, kind: 'kubevirt', kubeContext: current.name } : undefined;
}
