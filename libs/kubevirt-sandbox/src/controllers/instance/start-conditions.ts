import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { DataVolume } from '../../types/data-volume.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { World } from '../../world.js';
import { claimNameOf } from '../virtual-machine/volume-snapshot-statuses.js';
import { bootVolumes } from './volume-status.js';

/** What keeps the pod of a VMI from being made. */
export type StartObstacle =
  | { kind: 'missing-claim'; message: string }
  | { kind: 'missing-network'; message: string }
  /** Disks that are not filled yet. */
  | { kind: 'waiting' }
  /** Claims that want to know where their first consumer runs. */
  | { kind: 'wants-node'; claims: PersistentVolumeClaim[] };

export function startObstacle(world: World, vmi: VirtualMachineInstance): StartObstacle | undefined {
  const { namespace } = vmi.metadata;
  const unplaced: PersistentVolumeClaim[] = [];
  let waiting = false;
  for (const volume of bootVolumes(vmi)) {
    const name = claimNameOf(volume);
    if (!name) continue;
    const dataVolume = world.without.has('cdi')
      ? undefined
      : world.find<DataVolume>(RESOURCES.dataVolume, namespace, name);
    const claim = world.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, name);
    if (!claim && !dataVolume) {
      const message = `PVC ${namespace}/${name} does not exist, waiting for it to appear`;
      return { kind: 'missing-claim', message };
    }
    if (!claim) waiting = true;
    else if (claim.status?.phase !== 'Bound') unplaced.push(claim);
    if (dataVolume && dataVolume.status?.phase !== 'Succeeded') waiting = true;
  }
  const network = missingNetwork(world, vmi);
  if (network) return { kind: 'missing-network', message: network };
  if (unplaced.length > 0) return { kind: 'wants-node', claims: unplaced };
  return waiting ? { kind: 'waiting' } : undefined;
}

function missingNetwork(world: World, vmi: VirtualMachineInstance): string | undefined {
  for (const { multus } of vmi.spec.networks ?? []) {
    if (!multus) continue;
    const [name, namespace = vmi.metadata.namespace] = multus.networkName.split('/').reverse();
    const found = !world.without.has('multus') && world.find(RESOURCES.nad, namespace, name!);
    if (!found) return `failed to locate network attachment definition ${namespace}/${name}`;
  }
  return undefined;
}
