import { deepFreeze, type KubeObject, shareUnchanged } from '@headgate/kube-sandbox';
import type { PersistentVolumeClaim, Pod } from '../types/core-kinds.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';

/** Frozen parts by their JSON text. Few of them differ, as a fleet has few sizes and images. */
const parts = new Map<string, object>();
const MAX_PARTS = 5_000;

/** An equal part that other objects use as well; the store keeps frozen parts without a copy. */
function shared<T>(part: T): T {
  if (typeof part !== 'object' || part === null || Object.isFrozen(part)) return part;
  const text = JSON.stringify(part);
  const known = parts.get(text);
  if (known) return known as T;
  deepFreeze(part);
  if (parts.size < MAX_PARTS) parts.set(text, part);
  return part;
}

function shareFields<T extends object>(object: T | undefined, ...fields: (keyof T)[]): void {
  if (!object) return;
  for (const field of fields) if (object[field] !== undefined) object[field] = shared(object[field]);
}

/** Makes a seeded VM use the parts of others, so that a large fleet takes less memory and time. */
export function shareVmParts({ spec }: VirtualMachine): void {
  const { spec: template } = spec.template;
  shareFields(template.domain, 'cpu', 'memory', 'devices', 'machine', 'resources');
  shareFields(template, 'networks');
  for (const dataVolume of spec.dataVolumeTemplates ?? []) shareFields(dataVolume, 'spec');
  deepFreeze(spec);
}

/** The same for the objects that belong to it. */
export function shareParts(vm: VirtualMachine, objects: readonly KubeObject[]): void {
  shareFields(vm.status, 'conditions', 'volumeSnapshotStatuses');
  for (const object of objects) {
    if (object.kind === 'VirtualMachineInstance') shareInstance(vm, object as VirtualMachineInstance);
    else if (object.kind === 'Pod') sharePod(object as Pod);
    else if (object.kind === 'PersistentVolumeClaim') {
      const { spec, status } = object as PersistentVolumeClaim;
      shareFields(spec, 'resources', 'accessModes');
      shareFields(status, 'capacity', 'accessModes');
    }
  }
}

function shareInstance(vm: VirtualMachine, vmi: VirtualMachineInstance): void {
  shareFields(vmi.spec.domain, 'cpu', 'memory');
  shareFields(vmi.spec.domain.devices, 'disks');
  vmi.spec = shareUnchanged(vm.spec.template.spec, vmi.spec);
  shareFields(
    vmi.status,
    'conditions',
    'phaseTransitionTimestamps',
    'guestOSInfo',
    'machine',
    'currentCPUTopology',
    'memory',
  );
}

function sharePod({ spec, status }: Pod): void {
  shareFields(spec, 'containers', 'initContainers', 'nodeSelector', 'readinessGates');
  shareFields(status, 'conditions');
  for (const container of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])])
    shareFields(container, 'state', 'lastState');
}
