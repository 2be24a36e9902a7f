import { parseMillicores, type DiagnosticCheck } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { NODES } from '../api/resources.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import type { NodeObject } from '../api/object-types.js';
import { isSchedulable, vendorsOf } from '../migration/migration-target.js';
import { check, type CheckOutcome } from './check.js';

const KVM = 'devices.kubevirt.io/kvm';

/** Whether there are nodes that can run VMs, and nodes between which VMs can migrate. */
export function nodeChecks(api: KubeApi, facts: ClusterFacts): Promise<DiagnosticCheck>[] {
  if (!facts.hasKubevirt) return [];
  const nodes = api.list<NodeObject>(NODES);
  const emulated = facts.kubevirt?.spec?.configuration?.developerConfiguration?.useEmulation === true;
  return [
    check('kvm', async (): Promise<CheckOutcome> => {
      const usable = (await nodes).filter((node) => isSchedulable(node) && (emulated || hasKvm(node)));
      if (usable.length === 0) {
        return {
          status: 'error',
          message: 'No schedulable node has KVM.',
          remedy: 'Enable virtualization on a node, or useEmulation in the KubeVirt object.',
        };
      }
      if (!emulated) return { status: 'ok', message: `VMs can run on ${usable.length} node(s) with KVM.` };
      return {
        status: 'warning',
        message: `VMs can run on ${usable.length} node(s), in slow software emulation.`,
        remedy: 'Use nodes with KVM.',
      };
    }),
    check('migration', async (): Promise<CheckOutcome> => {
      const counts = new Map<string, number>();
      for (const node of (await nodes).filter(isSchedulable)) {
        const vendor = vendorsOf(node).join('/');
        counts.set(vendor, (counts.get(vendor) ?? 0) + 1);
      }
      if ([...counts.values()].some((count) => count > 1)) {
        return { status: 'ok', message: 'VMs can migrate between nodes with the same CPU vendor.' };
      }
      return {
        status: 'warning',
        message: 'No two schedulable nodes have the same CPU vendor; running VMs cannot be migrated.',
        remedy: 'Add a node.',
      };
    }),
  ];
}

function hasKvm({ status }: NodeObject): boolean {
  const quantity = status?.allocatable?.[KVM];
  // The kubelet writes 1000 as `1k`.
  return quantity !== undefined && parseMillicores(quantity, KVM) > 0;
}
