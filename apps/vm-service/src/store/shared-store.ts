import type { Clock, Log } from '@headgate/domain-contracts';
import type { KubeSharedStore } from '@headgate/kube-adapter';
import type { StoreSection } from '../config/service-config.js';

/** What several replicas of the service share. */
export type SharedStore = KubeSharedStore;

/** Injects the shared store; undefined for a service that runs alone. */
export const SHARED_STORE = Symbol('SHARED_STORE');

const SECOND_MS = 1000;
/** The proportions of client-go's leader election: 15, 10 and 2 seconds. */
const DEADLINE_SHARE = 2 / 3;
const RETRY_SHARE = 2 / 15;

/** Sends no request. The Kubernetes client is loaded only for a store in a cluster. */
export async function connectSharedStore(
  { kind, namespace, kubeconfig, kubeContext, leaseSeconds }: StoreSection,
  clock: Clock,
  log: Log,
): Promise<SharedStore | undefined> {
  if (kind === 'file') return undefined;
  const { KubeSharedStore } = await import('@headgate/kube-adapter');
  const durationMs = leaseSeconds * SECOND_MS;
  return KubeSharedStore.connect({
    context: 'the store',
    kubeconfig: kubeconfig === undefined ? { default: true } : { file: kubeconfig },
    kubeContext,
    namespace,
    clock,
    log,
    leaseTimes: { durationMs, renewDeadlineMs: durationMs * DEADLINE_SHARE, retryMs: durationMs * RETRY_SHARE },
  });
}
