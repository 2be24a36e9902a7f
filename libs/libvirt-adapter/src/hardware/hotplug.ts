import { refusal, type HardwareChange, type Refusal } from '@headgate/domain-contracts';
import { attribute, element } from '../xml/xml.js';
import type { DomainHardware } from './domain-hardware.js';

/**
 * Changes that add devices to a bus of the VM, or remove them. Media, and the settings of devices, can be changed
 * anyway.
 */
const PLUGGING: ReadonlySet<HardwareChange['kind']> = new Set([
  'attach-volume',
  'detach-volume',
  'add-nic',
  'remove-nic',
  'attach-host-device',
  'detach-host-device',
]);

/**
 * Why devices of a running VM can't be plugged. The machine type `pc` plugs them through ACPI, which VMs of other tools
 * may lack; `q35` has PCIe ports. QEMU reports it only when libvirt has changed other things already.
 */
export function plugRefusal({ id, state, live }: DomainHardware, { kind }: HardwareChange): Refusal | undefined {
  if (!state.isActive || !PLUGGING.has(kind)) return undefined;
  const { document } = live.description;
  const machine = attribute(element(element(document, 'os'), 'type'), 'machine') ?? '';
  if (!/^pc(?:$|-i440fx)/.test(machine) || element(element(document, 'features'), 'acpi') !== undefined)
    return undefined;
  return refusal(
    'WRONG_STATE',
    `The devices of ${id.name} can't be changed while it runs: its machine type ${machine} needs ACPI for that, which it does not have.`,
    'Stop the VM first.',
  );
}
