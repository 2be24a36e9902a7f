import type { DiagnosticCheck } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { HANDLER_RBAC_RULES } from '../rbac.js';
import { check, type CheckOutcome } from './check.js';
import { missingPermissions } from './missing-permissions.js';

/** Knows why the last reading had no disk and network values, a sentence. */
export interface ReadHandlers {
  readonly problem: string | undefined;
}

/** Whether disk and network of VMs can be read, where the configuration allows it. */
export function handlerChecks(
  api: KubeApi,
  facts: ClusterFacts,
  handlers: ReadHandlers | undefined,
): Promise<DiagnosticCheck>[] {
  if (!handlers || !facts.hasKubevirt) return [];
  return [check('handler-metrics', () => disksAndNetworks(api, facts, handlers))];
}

async function disksAndNetworks(api: KubeApi, facts: ClusterFacts, handlers: ReadHandlers): Promise<CheckOutcome> {
  const namespace = facts.kubevirt?.metadata.namespace;
  const missing = namespace
    ? await missingPermissions(api, () => true, { rules: HANDLER_RBAC_RULES, namespace })
    : ['list kubevirts.kubevirt.io'];
  if (missing.length > 0) {
    const where = namespace ? ` in the namespace ${namespace}` : '';
    return {
      status: 'warning',
      message: `Disk and network of VMs are unknown: the account may not ${missing.join(', ')}${where}.`,
      remedy: 'Apply deploy/kustomize/handler-metrics, or set metrics.handlers of the context to false.',
    };
  }
  if (handlers.problem === undefined)
    return { status: 'ok', message: 'Disk and network of VMs are read from virt-handler.' };
  return {
    status: 'warning',
    message: `Disk and network of some VMs are unknown: ${handlers.problem}`,
    remedy: 'Check the pods of virt-handler. A reading that failed is repeated after a minute.',
  };
}
