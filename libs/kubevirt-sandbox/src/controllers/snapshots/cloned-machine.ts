import { createHash } from 'node:crypto';
import type { VmClone } from '../../types/kubevirt-kinds.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';

/** Keeps the entries that the filters allow: `*` all, `!x*` none of these, whatever their order. */
export function filterEntries(
  entries: Record<string, string> | undefined,
  filters: readonly string[] | undefined,
): Record<string, string> {
  if (!filters) return { ...entries };
  const fits = (filter: string, key: string): boolean =>
    new RegExp(`^${filter.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*')}$`).test(key);
  return Object.fromEntries(
    Object.entries(entries ?? {}).filter(([key]) => {
      const excluded = filters.some((filter) => filter.startsWith('!') && fits(filter.slice(1), key));
      return !excluded && filters.some((filter) => !filter.startsWith('!') && fits(filter, key));
    }),
  );
}

/** Makes a restored VM a separate machine: other addresses, other firmware, and only the requested labels. */
export function adjustClone({ spec, metadata }: VmClone, vm: VirtualMachine): void {
  const { newMacAddresses = {}, newSMBiosSerial, template } = spec;
  vm.metadata.labels = filterEntries(vm.metadata.labels, spec.labelFilters);
  vm.metadata.annotations = filterEntries(vm.metadata.annotations, spec.annotationFilters);
  const target = vm.spec.template;
  if (target.metadata) {
    target.metadata.labels = filterEntries(target.metadata.labels, template?.labelFilters);
    target.metadata.annotations = filterEntries(target.metadata.annotations, template?.annotationFilters);
  }
  for (const nic of target.spec.domain.devices.interfaces ?? []) {
    const address = newMacAddresses[nic.name];
    if (address) nic.macAddress = address;
    else delete nic.macAddress;
  }
  const hex = createHash('sha1').update(`${metadata.uid}`).digest('hex');
  target.spec.domain.firmware = {
    uuid: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`,
    ...(newSMBiosSerial ? { serial: newSMBiosSerial } : {}),
  };
}
