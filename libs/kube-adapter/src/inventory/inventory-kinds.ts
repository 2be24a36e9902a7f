import type { KubeObject } from '../api/kube-object.js';
import { keyOf } from '../api/kube-object.js';
import {
  CLAIMS,
  CLUSTER_INSTANCETYPES,
  INSTANCES,
  INSTANCETYPES,
  PODS,
  VIRTUAL_MACHINES,
  type Resource,
} from '../api/resources.js';
import { LABEL } from '../labels.js';
import type { KindSink } from '../watch/kind-watch-settings.js';
import { containerClaimFacts, containerPodFacts } from './container-facts.js';
import type { ContainerTable } from './container-table.js';
import { bytesOf } from './guest-size.js';
import { vmFacts, vmiFacts } from './vm-facts.js';
import type { ClaimObject, InstancetypeObject, PodObject, VmiObject, VmObject } from './vm-object.js';
import type { VmTable } from './vm-table.js';

/** A kind that the inventory follows, and where its objects go. */
export interface InventoryKind {
  readonly resource: Resource;
  readonly labelSelector?: string;
  /** Without these the inventory would be wrong, not just less rich: that the account may not read them is an error. */
  readonly required: boolean;
  readonly sink: KindSink<never>;
}

export function inventoryKinds(vms: VmTable, containers: ContainerTable): readonly InventoryKind[] {
  return [
    { resource: INSTANCETYPES, required: false, sink: instancetypeSink(vms, (key) => !key.startsWith('/')) },
    { resource: CLUSTER_INSTANCETYPES, required: false, sink: instancetypeSink(vms, (key) => key.startsWith('/')) },
    { resource: CLAIMS, required: false, sink: claimSink(vms, containers) },
    { resource: PODS, labelSelector: `${LABEL.kind}=ct`, required: false, sink: podSink(containers) },
    { resource: INSTANCES, required: true, sink: vmiSink(vms) },
    { resource: VIRTUAL_MACHINES, required: true, sink: vmSink(vms) },
  ];
}

const vmSink = (vms: VmTable): KindSink<VmObject> => ({
  upsert: (vm) => vms.setVm(keyOf(vm), vmFacts(vm)),
  remove: (key) => vms.setVm(key, undefined),
  keys: () => vms.vmKeys(),
});

const vmiSink = (vms: VmTable): KindSink<VmiObject> => ({
  upsert: (vmi) => vms.setVmi(keyOf(vmi), vmiFacts(vmi)),
  remove: (key) => vms.setVmi(key, undefined),
  keys: () => vms.vmiKeys(),
});

const instancetypeSink = (vms: VmTable, mine: (key: string) => boolean): KindSink<InstancetypeObject> => ({
  upsert: (type) =>
    vms.setInstancetype(keyOf(type), { cpu: type.spec?.cpu?.guest, memoryBytes: bytesOf(type.spec?.memory?.guest) }),
  remove: (key) => vms.setInstancetype(key, undefined),
  keys: () => [...vms.instancetypeKeys()].filter(mine),
});

function claimSink(vms: VmTable, containers: ContainerTable): KindSink<ClaimObject> {
  const labelled = labelledKeys((key) => containers.setClaim(key, undefined));
  return {
    upsert: (claim) => {
      const key = keyOf(claim);
      vms.setClaimBytes(key, bytesOf(claim.status?.capacity?.storage ?? claim.spec?.resources?.requests?.storage));
      const container = labelled.note(claim);
      if (container !== undefined) containers.setClaim(container, containerClaimFacts(claim));
    },
    remove: (key) => {
      vms.setClaimBytes(key, undefined);
      labelled.forget(key);
    },
    keys: () => vms.claimKeys(),
  };
}

function podSink(containers: ContainerTable): KindSink<PodObject> {
  const labelled = labelledKeys((key) => containers.setPod(key, undefined));
  return {
    upsert: (pod) => {
      const container = labelled.note(pod);
      if (container !== undefined) containers.setPod(container, containerPodFacts(pod));
    },
    remove: (key) => labelled.forget(key),
    keys: () => labelled.keys(),
  };
}

/** Which container an object belongs to by its labels, remembered because a removal tells only the object's own name. */
function labelledKeys(remove: (container: string) => void) {
  const containers = new Map<string, string>();
  const forget = (key: string): void => {
    const container = containers.get(key);
    if (container === undefined) return;
    containers.delete(key);
    remove(container);
  };
  return {
    note(object: KubeObject): string | undefined {
      const { labels, namespace } = object.metadata;
      const name = labels?.[LABEL.kind] === 'ct' ? labels[LABEL.name] : undefined;
      const container = name === undefined ? undefined : `${namespace}/${name}`;
      const key = keyOf(object);
      if (containers.get(key) !== container) forget(key);
      if (container !== undefined) containers.set(key, container);
      return container;
    },
    forget,
    keys: (): Iterable<string> => containers.keys(),
  };
}
