import type { Clock } from '@headgate/domain-contracts';
import { KubeApi } from './kube-api.js';
import { KubeCredentials } from './kube-credentials.js';
import type { KubeconfigSource } from './kubeconfig-source.js';

export interface ReachabilityQuery {
  readonly kubeconfig: KubeconfigSource;
  /** The kubeconfig's context; absent: its current one. */
  readonly kubeContext?: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Whether a cluster answers and accepts the credentials. Requests nothing but its version. */
export async function isClusterReachable({
  kubeconfig,
  kubeContext,
  clock,
  timeoutMs,
}: ReachabilityQuery): Promise<boolean> {
  const credentials = new KubeCredentials(kubeconfig, kubeContext);
  try {
    await new KubeApi(kubeContext ?? '', credentials, clock).text('GET', '/version', { timeoutMs, retry: false });
    return true;
  } catch {
    return false;
  } finally {
    credentials.close();
  }
}
