import type { Clock } from '@headgate/domain-contracts';
import { KubeApi } from './kube-api.js';
import { KubeCredentials } from './kube-credentials.js';
import type { KubeconfigSource } from './kubeconfig-source.js';

/** Whether the cluster of a kubeconfig's context answers within `timeoutMs` milliseconds. Asks for its version only. */
export async function clusterAnswers(
  source: KubeconfigSource,
  kubeContext: string | undefined,
  clock: Clock,
  timeoutMs: number,
): Promise<boolean> {
  const credentials = new KubeCredentials(source, kubeContext);
  try {
    await new KubeApi(kubeContext ?? '', credentials, clock).text('GET', '/version', { timeoutMs });
    return true;
  } catch {
    return false;
  } finally {
    credentials.close();
  }
}
