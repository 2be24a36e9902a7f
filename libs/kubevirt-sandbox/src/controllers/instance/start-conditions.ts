import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { DataVolume } from '../../types/data-volume.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { claimNameOf } from '../../machines/volume-snapshot-statuses.js';
import { deviceObstacle } from './placement-resources.js';
import { bootVolumes } from './volume-status.js';

/** The obstacles to the creation of a VMI's pod. */
export type StartObstacle =
  | { kind: 'missing-claim'; message: string }
  | { kind: 'missing-network'; message: string }
  | { kind: 'not-permitted'; message: string }
  /** Disks that are still being filled. */
  | { kind: 'waiting' }
  /** Claims that wait for the node of their first consumer. */
  | { kind: 'wants-node'; claims: PersistentVolumeClaim[] };

export function startObstacle(context: SimulationContext, vmi: VirtualMachineInstance): StartObstacle | undefined {
  const { namespace } = vmi.metadata;
  const unplaced: PersistentVolumeClaim[] = [];
  let waiting = false;
  for (const volume of bootVolumes(vmi)) {
    const name = claimNameOf(volume);
    if (!name) continue;
    const dataVolume = context.without.has('cdi')
      ? undefined
      : context.find<DataVolume>(RESOURCES.dataVolume, namespace, name);
    const claim = context.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, name);
    if (!claim && !dataVolume) {
      const message = `PVC ${namespace}/${name} does not exist, waiting for it to appear`;
      return { kind: 'missing-claim', message };
    }
    if (!claim) waiting = true;
    else if (claim.status?.phase !== 'Bound') unplaced.push(claim);
    if (dataVolume && dataVolume.status?.phase !== 'Succeeded') waiting = true;
  }
  const network = missingNetwork(context, vmi);
  if (network) return { kind: 'missing-network', message: network };
  const device = deviceObstacle(context, vmi);
  if (device) return { kind: 'not-permitted', message: device };
  if (unplaced.length > 0) return { kind: 'wants-node', claims: unplaced };
  return waiting ? { kind: 'waiting' } : undefined;
}

function missingNetwork(context: SimulationContext, vmi: VirtualMachineInstance): string | undefined {
  for (const { multus } of vmi.spec.networks ?? []) {
    if (!multus) continue;
    const [name, namespace = vmi.metadata.namespace] = multus.networkName.split('/').reverse();
    const found = !context.without.has('multus') && context.find(RESOURCES.nad, namespace, name!);
    if (!found) return `failed to locate network attachment definition ${namespace}/${name}`;
  }
  return undefined;
}
