import type { KubeApi } from '../api/kube-api.js';
import { NODE_RBAC_RULES } from '../rbac.js';
import type { CheckOutcome } from './check.js';
import { missingPermissions } from './missing-permissions.js';

/** Whether the account may cordon nodes, where the configuration allows it. */
export async function nodeRights(api: KubeApi): Promise<CheckOutcome> {
  const missing = await missingPermissions(api, () => true, { rules: NODE_RBAC_RULES });
  if (missing.length === 0) return { status: 'ok', message: 'The service can cordon and drain nodes.' };
  return {
    status: 'warning',
    message: `Nodes can't be cordoned or drained: the account may not ${missing.join(', ')}.`,
    remedy: 'Apply deploy/kustomize/node-scheduling, or set nodeScheduling of the context to false.',
  };
}
