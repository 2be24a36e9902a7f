import { deepCopy } from '@headgate/kube-sandbox';
import { quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { Instancetype, Preference } from '../types/kubevirt-kinds.js';
import type { VmiSpec } from '../types/virtual-machine-instance.js';
import type { Matcher, VirtualMachine } from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';
import { revisionOf } from './instancetype-revision.js';

/** The VM names an instancetype or a preference that can't be used; the message is KubeVirt's. */
export class ExpansionFailure extends Error {}

const isNamespaced = ({ kind = '' }: Matcher, word: string): boolean =>
  kind !== '' && !/cluster/i.test(kind) && kind.toLowerCase().includes(word);

export function findInstancetype(context: SimulationContext, vm: VirtualMachine): Instancetype | undefined {
  const { instancetype } = vm.spec;
  if (!instancetype?.name) return undefined;
  const revision = revisionOf<Instancetype>(context, vm, instancetype, 'instancetypeRef');
  if (revision) return revision;
  const namespaced = isNamespaced(instancetype, 'instancetype');
  const resource = namespaced ? RESOURCES.instancetype : RESOURCES.clusterInstancetype;
  const found = context.find<Instancetype>(resource, namespaced ? vm.metadata.namespace : undefined, instancetype.name);
  if (!found) throw new ExpansionFailure(`${resource} "${instancetype.name}" not found`);
  return found;
}

export function findPreference(context: SimulationContext, vm: VirtualMachine): Preference | undefined {
  const { preference } = vm.spec;
  if (!preference?.name) return undefined;
  const revision = revisionOf<Preference>(context, vm, preference, 'preferenceRef');
  if (revision) return revision;
  const namespaced = isNamespaced(preference, 'preference');
  const resource = namespaced ? RESOURCES.preference : RESOURCES.clusterPreference;
  const found = context.find<Preference>(resource, namespaced ? vm.metadata.namespace : undefined, preference.name);
  if (!found) throw new ExpansionFailure(`${resource} "${preference.name}" not found`);
  return found;
}

/**
 * The VMI spec of a VM with its instancetype and its preference applied.
 * @throws ExpansionFailure
 */
export function expandedSpec(context: SimulationContext, vm: VirtualMachine): VmiSpec {
  const spec = deepCopy(vm.spec.template.spec);
  const instancetype = findInstancetype(context, vm);
  const preference = findPreference(context, vm);
  if (instancetype) applyInstancetype(spec, instancetype);
  if (preference) {
    checkRequirements(spec, preference);
    applyPreference(spec, preference);
  }
  return spec;
}

function applyInstancetype(spec: VmiSpec, { spec: { cpu, memory } }: Instancetype): void {
  const maxSockets = cpu.maxSockets === undefined ? {} : { maxSockets: cpu.maxSockets };
  spec.domain.cpu = { ...spec.domain.cpu, sockets: cpu.guest, cores: 1, threads: 1, ...maxSockets };
  const maxGuest = memory.maxGuest === undefined ? {} : { maxGuest: memory.maxGuest };
  spec.domain.memory = { ...spec.domain.memory, guest: memory.guest, ...maxGuest };
}

function applyPreference(
  spec: VmiSpec,
  { spec: { devices = {}, preferredTerminationGracePeriodSeconds } }: Preference,
): void {
  const { preferredDiskBus, preferredInterfaceModel } = devices;
  for (const disk of spec.domain.devices.disks ?? []) {
    if (preferredDiskBus && disk.disk && !disk.disk.bus) disk.disk.bus = preferredDiskBus;
  }
  for (const nic of spec.domain.devices.interfaces ?? []) {
    if (preferredInterfaceModel && !nic.model) nic.model = preferredInterfaceModel;
  }
  if (preferredTerminationGracePeriodSeconds !== undefined) {
    spec.terminationGracePeriodSeconds ??= preferredTerminationGracePeriodSeconds;
  }
}

function checkRequirements(spec: VmiSpec, { spec: { requirements } }: Preference): void {
  const { sockets = 1, cores = 1, threads = 1 } = spec.domain.cpu ?? {};
  const cpus = sockets * cores * threads;
  const wantedCpus = requirements?.cpu?.guest ?? 0;
  if (cpus < wantedCpus) {
    throw new ExpansionFailure(
      `insufficient CPU resources of ${cpus} vCPU provided by instance type, preference requires ${wantedCpus} vCPU`,
    );
  }
  const memory = spec.domain.memory?.guest;
  const wantedMemory = requirements?.memory?.guest;
  if (memory && wantedMemory && quantityValue(memory) < quantityValue(wantedMemory)) {
    throw new ExpansionFailure(
      `insufficient Memory resources of ${memory} provided by instance type, preference requires ${wantedMemory}`,
    );
  }
}
