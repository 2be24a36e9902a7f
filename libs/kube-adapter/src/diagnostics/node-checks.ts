import { parseMillicores, type DiagnosticCheck } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { NODES } from '../api/resources.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { takesGuests, vendorsOf, type NodeObject } from '../migration/migration-target.js';
import { check, type CheckOutcome } from './check.js';

const KVM = 'devices.kubevirt.io/kvm';

/** Whether VMs have somewhere to run, and somewhere to move to. */
export function nodeChecks(api: KubeApi, facts: ClusterFacts): Promise<DiagnosticCheck>[] {
  if (!facts.hasKubevirt) return [];
  const nodes = api.list<NodeObject>(NODES);
  const emulated = facts.kubevirt?.spec?.configuration?.developerConfiguration?.useEmulation === true;
  return [
    check('kvm', async (): Promise<CheckOutcome> => {
      const able = (await nodes).filter((node) => takesGuests(node) && (emulated || hasKvm(node)));
      if (able.length === 0) {
        return {
          status: 'error',
          message: 'No node with KVM takes VMs.',
          remedy: 'Enable virtualisation on a node, or useEmulation in KubeVirt.',
        };
      }
      if (!emulated) return { status: 'ok', message: `${able.length} node(s) with KVM take VMs.` };
      return {
        status: 'warning',
        message: `${able.length} node(s) take VMs, with slow software emulation.`,
        remedy: 'Use nodes with KVM.',
      };
    }),
    check('migration', async (): Promise<CheckOutcome> => {
      const counts = new Map<string, number>();
      for (const node of (await nodes).filter(takesGuests)) {
        const vendor = vendorsOf(node).join('/');
        counts.set(vendor, (counts.get(vendor) ?? 0) + 1);
      }
      if ([...counts.values()].some((count) => count > 1)) {
        return { status: 'ok', message: 'VMs can move between nodes with the same CPU vendor.' };
      }
      return {
        status: 'warning',
        message: 'No two nodes with the same CPU vendor take VMs; none can be migrated.',
        remedy: 'Add a node.',
      };
    }),
  ];
}

function hasKvm({ status }: NodeObject): boolean {
  const quantity = status?.allocatable?.[KVM];
  // Written as `1k` by the kubelet.
  return quantity !== undefined && parseMillicores(quantity, KVM) > 0;
}
