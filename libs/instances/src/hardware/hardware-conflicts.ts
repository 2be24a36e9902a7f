import { refusal, type Hardware, type HardwareChange, type Refusal } from '@headgate/domain-contracts';
import { diskNamed } from './hardware-values.js';

/**
 * Why changes can't be in one request: the result would depend on their order. Changes are named by their place in the
 * request, counted from 0.
 */
export function hardwareConflicts(hardware: Hardware, changes: readonly HardwareChange[]): Refusal[] {
  const refusals: Refusal[] = [];
  const first = new Map<string, number>();
  for (const [index, change] of changes.entries()) {
    for (const target of targetsOf(hardware, change)) {
      const other = first.get(target);
      if (other === undefined) first.set(target, index);
      else if (other !== index) {
        const reason = `changes[${index}] and changes[${other}] are both about ${target}.`;
        refusals.push(refusal('INVALID_INPUT', reason, 'Change it once in a request.'));
      }
    }
  }
  return [...refusals, ...bootConflicts(hardware, changes), ...memoryConflicts(changes)];
}

/** The parts of the hardware that a change is about. */
function targetsOf(hardware: Hardware, change: HardwareChange): readonly string[] {
  switch (change.kind) {
    case 'scale':
      return ['the size'];
    case 'set-boot-order':
      return ['the boot order'];
    case 'set-autostart':
      return ['the autostart'];
    case 'set-placement':
      return ['the placement'];
    case 'attach-volume':
      return 'volume' in change.disk ? [`the volume ${change.disk.volume}`] : [];
    case 'detach-volume':
    case 'expand-volume':
      return [`the volume ${diskNamed(hardware, change.volume)?.volume ?? change.volume}`];
    case 'change-medium':
      return [`the drive ${change.drive}`, ...(change.volume === null ? [] : [`the volume ${change.volume}`])];
    case 'add-nic':
      return [
        `the NIC ${change.nic}`,
        ...(change.mac === undefined ? [] : [`the address ${change.mac.toLowerCase()}`]),
      ];
    case 'change-nic':
    case 'remove-nic':
      return [`the NIC ${change.nic}`];
    case 'attach-host-device':
      return [`the host device ${change.device}`];
    case 'detach-host-device': {
      const { device } = hardware.hostDevices.find(({ name }) => name === change.name) ?? {};
      return [
        `the host device ${change.name}`,
        ...(device === undefined || device === change.name ? [] : [`the host device ${device}`]),
      ];
    }
  }
}

/** A device that is removed can't be booted from. */
function bootConflicts(hardware: Hardware, changes: readonly HardwareChange[]): Refusal[] {
  const order = changes.findIndex(({ kind }) => kind === 'set-boot-order');
  const boot = changes[order];
  if (boot?.kind !== 'set-boot-order') return [];
  return changes.flatMap((change, index) => {
    const device =
      change.kind === 'remove-nic'
        ? change.nic
        : change.kind === 'detach-volume'
          ? diskNamed(hardware, change.volume)?.device
          : undefined;
    if (device === undefined || !boot.devices.includes(device)) return [];
    const reason = `changes[${order}] boots from ${device}, which changes[${index}] removes.`;
    return [refusal('INVALID_INPUT', reason, `Leave ${device} out of the boot order, or keep it.`)];
  });
}

/** Pages and NUMA nodes divide the size that the VM has, which must not change at the same time. */
function memoryConflicts(changes: readonly HardwareChange[]): Refusal[] {
  const scale = changes.findIndex(({ kind }) => kind === 'scale');
  const place = changes.findIndex(
    (change) =>
      change.kind === 'set-placement' &&
      ((change.hugepageBytes ?? null) !== null || (change.pinning?.cells?.length ?? 0) > 0),
  );
  if (scale < 0 || place < 0) return [];
  const reason = `changes[${place}] divides the memory into pages or NUMA nodes, and changes[${scale}] changes the size.`;
  return [refusal('INVALID_INPUT', reason, 'Change the size first, and the placement in a request after it.')];
}
