import { VM_SOURCES, type VmSourceKind } from '@headgate/domain-contracts';
import type { ClusterFacts } from '../discovery/cluster-facts.js';

/** Why a VM can't be made from this source; undefined when it can. Facts that are not known yet are no reason. */
export function sourceReason(kind: VmSourceKind, facts: ClusterFacts | undefined): string | undefined {
  if (kind === 'bootc') return 'Building a disk from a bootc image needs the bootc plugin.';
  if (facts && !facts.hasKubevirt) return 'KubeVirt is not installed in this cluster.';
  if ((kind === 'import' || kind === 'iso') && facts && !facts.hasCdi) {
    return 'Importing an image needs CDI (containerized-data-importer), which is not installed in this cluster.';
  }
  return undefined;
}

export const vmSources = (facts: ClusterFacts | undefined): Readonly<Record<VmSourceKind, true | string>> =>
  Object.fromEntries(VM_SOURCES.map((kind) => [kind, sourceReason(kind, facts) ?? true])) as Record<
    VmSourceKind,
    true | string
  >;
