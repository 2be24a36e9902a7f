import { keyOf, type KubeObject } from '../api/kube-object.js';
import type {
  ClaimObject,
  DataVolumeObject,
  InstancetypeObject,
  PodObject,
  VmiObject,
  VmObject,
} from '../api/object-types.js';
import {
  CLAIMS,
  CLUSTER_INSTANCETYPES,
  DATA_VOLUMES,
  VM_INSTANCES,
  INSTANCETYPES,
  PODS,
  VIRTUAL_MACHINES,
  type Resource,
} from '../api/resources.js';
import { LABEL } from '../labels.js';
import { isProofVm } from '../proof-vm.js';
import type { KindSink } from '../watch/kind-watch.js';
import { containerClaimFacts, containerPodFacts } from './container-facts.js';
import type { ContainerTable } from './container-table.js';
import { dataVolumeFacts } from '../data-volumes/data-volume-facts.js';
import { bytesOf } from './guest-size.js';
import { vmFacts, vmiFacts } from './vm-facts.js';
import type { VmTable } from './vm-table.js';

/** A kind that the inventory follows, and the sink for its objects. */
export interface InventoryKind {
  readonly resource: Resource;
  readonly labelSelector?: string;
  /** Without this kind the inventory would be wrong, so an account that may not read it is an error. */
  readonly required: boolean;
  readonly sink: KindSink<never>;
}

export function inventoryKinds(vms: VmTable, containers: ContainerTable): readonly InventoryKind[] {
  return [
    { resource: INSTANCETYPES, required: false, sink: instancetypeSink(vms, (key) => !key.startsWith('/')) },
    { resource: CLUSTER_INSTANCETYPES, required: false, sink: instancetypeSink(vms, (key) => key.startsWith('/')) },
    { resource: CLAIMS, required: false, sink: claimSink(vms, containers) },
    { resource: DATA_VOLUMES, required: false, sink: dataVolumeSink(vms) },
    { resource: PODS, labelSelector: `${LABEL.kind}=ct`, required: false, sink: podSink(containers) },
    { resource: VM_INSTANCES, required: true, sink: vmiSink(vms) },
    { resource: VIRTUAL_MACHINES, required: true, sink: vmSink(vms) },
  ];
}

const vmSink = (vms: VmTable): KindSink<VmObject> => ({
  // The VM of a proof is no VM of the user.
  upsert: (vm) => vms.setVm(keyOf(vm), isProofVm(vm) ? undefined : vmFacts(vm)),
  remove: (key) => vms.setVm(key, undefined),
  keys: () => vms.vmKeys(),
});

const vmiSink = (vms: VmTable): KindSink<VmiObject> => ({
  upsert: (vmi) => vms.setVmi(keyOf(vmi), vmiFacts(vmi)),
  remove: (key) => vms.setVmi(key, undefined),
  keys: () => vms.vmiKeys(),
});

const instancetypeSink = (vms: VmTable, isOfKind: (key: string) => boolean): KindSink<InstancetypeObject> => ({
  upsert: (type) =>
    vms.setInstancetype(keyOf(type), { cpu: type.spec?.cpu?.guest, memoryBytes: bytesOf(type.spec?.memory?.guest) }),
  remove: (key) => vms.setInstancetype(key, undefined),
  keys: () => [...vms.instancetypeKeys()].filter(isOfKind),
});

const dataVolumeSink = (vms: VmTable): KindSink<DataVolumeObject> => ({
  upsert: (dataVolume) => vms.setDataVolume(keyOf(dataVolume), dataVolumeFacts(dataVolume)),
  remove: (key) => vms.setDataVolume(key, undefined),
  keys: () => vms.dataVolumeKeys(),
});

function claimSink(vms: VmTable, containers: ContainerTable): KindSink<ClaimObject> {
  const owners = new ContainerIndex((key) => containers.setClaim(key, undefined));
  return {
    upsert: (claim) => {
      const key = keyOf(claim);
      vms.setClaimBytes(key, bytesOf(claim.status?.capacity?.storage ?? claim.spec?.resources?.requests?.storage));
      const container = owners.add(claim);
      if (container !== undefined) containers.setClaim(container, containerClaimFacts(claim));
    },
    remove: (key) => {
      vms.setClaimBytes(key, undefined);
      owners.remove(key);
    },
    keys: () => vms.claimKeys(),
  };
}

function podSink(containers: ContainerTable): KindSink<PodObject> {
  const owners = new ContainerIndex((key) => containers.setPod(key, undefined));
  return {
    upsert: (pod) => {
      const container = owners.add(pod);
      if (container !== undefined) containers.setPod(container, containerPodFacts(pod));
    },
    remove: (key) => owners.remove(key),
    keys: () => owners.keys(),
  };
}

/** Maps objects to the containers that their labels name, because a removal names only the object. */
class ContainerIndex {
  private readonly containers = new Map<string, string>();

  /** @param onRemoved receives the key of a container whose object was removed or lost its labels */
  constructor(private readonly onRemoved: (container: string) => void) {}

  /** @returns the key of the container that the object belongs to */
  add(object: KubeObject): string | undefined {
    const { labels, namespace } = object.metadata;
    const name = labels?.[LABEL.kind] === 'ct' ? labels[LABEL.name] : undefined;
    const container = name === undefined ? undefined : `${namespace}/${name}`;
    const key = keyOf(object);
    if (this.containers.get(key) !== container) this.remove(key);
    if (container !== undefined) this.containers.set(key, container);
    return container;
  }

  remove(key: string): void {
    const container = this.containers.get(key);
    if (container === undefined) return;
    this.containers.delete(key);
    this.onRemoved(container);
  }

  keys(): Iterable<string> {
    return this.containers.keys();
  }
}
