import { NEEDS_CDI, type ClusterFacts } from '../discovery/cluster-facts.js';

const GATES = ['VolumesUpdateStrategy', 'VolumeMigration', 'VMLiveUpdateFeatures'];

/** Why a cluster can't move the disks of running VMs; undefined if it can. */
export function moveObstacle(facts: ClusterFacts): string | undefined {
  const missing = GATES.filter((gate) => !facts.isGateEnabled(gate));
  if (missing.length > 0) {
    const word = missing.length === 1 ? 'gate' : 'gates';
    return `Moving the disks of running VMs needs KubeVirt's feature ${word} ${missing.join(', ')}.`;
  }
  if (!facts.rollsOutLive)
    return 'Moving the disks of running VMs needs vmRolloutStrategy: LiveUpdate in the KubeVirt object.';
  return facts.hasCdi ? undefined : NEEDS_CDI.replace('Importing an image', 'Moving a disk');
}
