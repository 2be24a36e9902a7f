import { apiError, badRequest, internalError, notFound } from '../api-error.js';
import type { AdmissionChain } from '../admission.js';
import type { KubeObject } from '../kube-object.js';
import type { ObjectStore } from '../object-store.js';
import { parseDryRun } from '../requests/dry-run.js';
import type { DeleteOptions } from '../store/deletion-plan.js';
import type { SubresourceRegistry } from '../subresources.js';
import { BUDGETS, isHealthy, selectsPod } from './budgeted-pods.js';
import type { PodDisruptionBudget } from './pod-disruption-budget.js';

interface Eviction {
  metadata?: { name?: string };
  deleteOptions?: Omit<DeleteOptions, 'dryRun'> & { dryRun?: string[] };
}

interface Pod extends KubeObject {
  status?: { phase?: string; conditions?: { type: string; status: string }[] };
}

/** Registers `pods/eviction`, which deletes a pod unless a webhook or a disruption budget forbids it. */
export function registerEviction(
  subresources: SubresourceRegistry,
  { store, admission }: { store: ObjectStore; admission: AdmissionChain },
): void {
  subresources.handle(
    { group: '', resource: 'pods', subresource: 'eviction' },
    ['POST'],
    ({ namespace = '', name, body, user, query }) => {
      const { metadata, deleteOptions = {} } = (body ?? {}) as Eviction;
      if (metadata?.name && metadata.name !== name) {
        throw badRequest('name in URL does not match name in Eviction object');
      }
      const pod = store.get<Pod>('pods', { namespace, name });
      if (!pod) throw notFound({ group: '', resource: 'pods', name });
      const dryRun = parseDryRun([...query.getAll('dryRun'), ...(deleteOptions.dryRun ?? [])], 'DeleteOptions');
      const request = { operation: 'CREATE', resource: 'pods', subresource: 'eviction', namespace, name } as const;
      admission.validate({ ...request, object: pod, user, dryRun });
      if (!isExempt(pod)) checkBudgets(store, pod);
      const { preconditions, gracePeriodSeconds, propagationPolicy } = deleteOptions;
      store.delete('pods', { namespace, name }, { preconditions, gracePeriodSeconds, propagationPolicy, dryRun });
      return { code: 201, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
    },
  );
}

/** Pods that do not run are not protected. */
const isExempt = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(status?.phase ?? '');

/** @throws ApiError 429, 500 */
function checkBudgets(store: ObjectStore, pod: Pod): void {
  const budgets = store.list<PodDisruptionBudget>(BUDGETS, {
    namespace: pod.metadata.namespace,
    where: (candidate) => selectsPod(candidate, pod),
  });
  if (budgets.length > 1) {
    throw internalError(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const [budget] = budgets;
  if (!budget?.status) return;
  const { currentHealthy, desiredHealthy, disruptionsAllowed } = budget.status;
  const policy = budget.spec?.unhealthyPodEvictionPolicy ?? 'IfHealthyBudget';
  const mayLeaveUnhealthy = policy === 'AlwaysAllow' || (currentHealthy >= desiredHealthy && desiredHealthy > 0);
  if (!isHealthy(pod) && mayLeaveUnhealthy) return;
  if (disruptionsAllowed > 0) return;
  const { name } = budget.metadata;
  throw apiError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [
      {
        reason: 'DisruptionBudget',
        message: `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
      },
    ],
  });
}
