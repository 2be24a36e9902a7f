import {
  describePlacementChange,
  formatBytes,
  type Hardware,
  type HardwareChange,
  type HardwareDisk,
} from '@headgate/domain-contracts';

/** The value of the hardware that a change is about, before and after it. Empty for a device that is not there. */
export interface ChangedValue {
  readonly before: string;
  readonly after: string;
}

/** The disk that a change calls by the name of its volume or of its device. */
export const diskNamed = ({ disks }: Hardware, name: string): HardwareDisk | undefined =>
  disks.find(({ volume }) => volume === name) ?? disks.find(({ device }) => device === name);

export function changedValue(hardware: Hardware, change: HardwareChange): ChangedValue {
  const sizeOf = (volume: string): string => bytes(diskNamed(hardware, volume)?.sizeBytes);
  switch (change.kind) {
    case 'scale':
      return sizes(hardware, change);
    case 'attach-volume':
      return { before: '', after: 'sizeBytes' in change.disk ? bytes(change.disk.sizeBytes) : change.disk.volume };
    case 'detach-volume':
      return { before: sizeOf(change.volume), after: '' };
    case 'expand-volume':
      return { before: sizeOf(change.volume), after: bytes(change.sizeBytes) };
    case 'add-nic':
      return { before: '', after: change.network };
    case 'remove-nic':
      return { before: hardware.nics.find(({ name }) => name === change.nic)?.network ?? '', after: '' };
    case 'change-nic':
      return nicValues(hardware, change);
    case 'change-medium':
      return { before: diskNamed(hardware, change.drive)?.volume ?? '', after: change.volume ?? '' };
    case 'set-boot-order':
      return { before: hardware.bootOrder.join(', '), after: change.devices.join(', ') };
    case 'set-autostart':
      return { before: onOff(hardware.autostart), after: onOff(change.isOn) };
    case 'set-placement':
      return { before: '', after: describePlacementChange(change) };
    case 'attach-host-device':
      return { before: '', after: change.device };
    case 'detach-host-device':
      return { before: change.name, after: '' };
  }
}

const bytes = (value: number | null | undefined): string => (typeof value === 'number' ? formatBytes(value) : '');
const onOff = (value: boolean | null): string => (value === null ? '' : value ? 'on' : 'off');

function sizes(hardware: Hardware, { cpu, memoryBytes }: { cpu?: number; memoryBytes?: number }): ChangedValue {
  const of = (size: Pick<Hardware, 'cpu' | 'memoryBytes'>): string =>
    [
      ...(cpu === undefined ? [] : [size.cpu === 1 ? '1 CPU' : `${size.cpu} CPUs`]),
      ...(memoryBytes === undefined ? [] : [formatBytes(size.memoryBytes)]),
    ].join(', ');
  const after = { cpu: cpu ?? hardware.cpu, memoryBytes: memoryBytes ?? hardware.memoryBytes };
  return { before: of(hardware), after: of(after) };
}

function nicValues(
  { nics }: Hardware,
  { nic, network, isLinkUp }: { nic: string; network?: string; isLinkUp?: boolean },
): ChangedValue {
  const present = nics.find(({ name }) => name === nic);
  const of = (shown: string | undefined, isUp: boolean | undefined): string =>
    [
      ...(network === undefined ? [] : [shown ?? '']),
      ...(isLinkUp === undefined || isUp === undefined ? [] : [isUp ? 'connected' : 'disconnected']),
    ].join(', ');
  return { before: of(present?.network, present?.isLinkUp), after: of(network, isLinkUp) };
}
