import type { HardwareView } from '@headgate/api-contracts';
import type { Drafts } from './hardware-drafts.js';

/** A box of the table. */
export interface Box {
  /** The field of its draft. */
  readonly field: string;
  /** The present value. */
  readonly saved: string;
}

/** A row of the table, with the boxes in which it is edited. */
export interface Row {
  readonly id: string;
  readonly boxes: Readonly<Record<string, Box>>;
  /** A row for a device that the machine does not have. */
  readonly isNew?: true;
}

/** The text that marks a device to remove, in the box `removal`. */
export type Removal = 'detach' | 'delete' | 'remove';

const rowOf = (id: string, boxes: Readonly<Record<string, string>>): Row => ({
  id,
  boxes: Object.fromEntries(Object.entries(boxes).map(([name, saved]) => [name, { field: `${id}: ${name}`, saved }])),
});

/** `0:2-3 1:4`: CPU 0 of the VM runs on the CPUs 2 and 3 of the host. */
const formatPins = (pins: readonly { vcpu: number; cpus: string }[]): string =>
  pins.map(({ vcpu, cpus }) => `${vcpu}:${cpus}`).join(' ');

export const sizeRows = ({ cpu, mem }: HardwareView): { cpu: Row; memory: Row } => ({
  cpu: rowOf('CPUs', { count: String(cpu) }),
  memory: rowOf('memory', { size: mem }),
});

export const diskRows = ({ disks }: HardwareView) =>
  disks.map((disk) => {
    const name = disk.pvc ?? disk.device;
    const boxes: Record<string, string> =
      disk.type === 'cdrom' ? { medium: disk.pvc ?? '' } : { size: disk.size ?? '', removal: '' };
    return { disk, name, row: rowOf(`${disk.type} ${disk.type === 'cdrom' ? disk.device : name}`, boxes) };
  });

export const nicRows = ({ nics }: HardwareView) =>
  nics.map((nic) => ({ nic, row: rowOf(`NIC ${nic.iface}`, { network: nic.nad, link: nic.link, removal: '' }) }));

export const startRows = ({ bootOrder, autostart }: HardwareView): { order: Row; autostart: Row } => ({
  order: rowOf('boot order', { devices: bootOrder.join() }),
  autostart: rowOf('autostart', { on: autostart === true ? 'on' : 'off' }),
});

export function placementRows({ placement: { dedicated, pinning, hugepages } }: HardwareView): {
  readonly dedicated?: Row;
  readonly pins?: Row;
  readonly pages: Row;
} {
  const onOff = (isOn: boolean): string => (isOn ? 'on' : 'off');
  return {
    ...(dedicated && {
      dedicated: rowOf('dedicated CPUs', { on: onOff(dedicated.on), emulator: onOff(dedicated.isolateEmulator) }),
    }),
    ...(pinning && {
      pins: rowOf('CPU pins', {
        pins: formatPins(pinning.vcpus),
        emulator: pinning.emulatorCpus ?? '',
        nodes: pinning.memory?.nodes ?? '',
      }),
    }),
    pages: rowOf('hugepages', { size: hugepages ?? '' }),
  };
}

export const deviceRows = ({ hostDevices }: HardwareView) =>
  hostDevices.map((device) => ({ device, row: rowOf(`device ${device.name}`, { removal: '' }) }));

export type NewKind = 'disk' | 'NIC' | 'device';
const NEW_BOXES: Readonly<Record<NewKind, readonly string[]>> = {
  disk: ['size', 'volume'],
  NIC: ['name', 'network'],
  device: ['device'],
};

/** The rows of the new devices of a kind: those that are typed, and an empty one after them. */
export function newRows(kind: NewKind, drafts: Drafts): Row[] {
  const boxes = Object.fromEntries(NEW_BOXES[kind].map((name) => [name, '']));
  const prefix = `new ${kind} `;
  const numbers = Object.keys(drafts).flatMap((field) =>
    field.startsWith(prefix) ? [Number.parseInt(field.slice(prefix.length), 10)] : [],
  );
  const used = [...new Set(numbers)].filter(Number.isSafeInteger).sort((a, b) => a - b);
  return [...used, (used.at(-1) ?? 0) + 1].map((number) => ({ ...rowOf(`${prefix}${number}`, boxes), isNew: true }));
}

export const textOf = (row: Row, box: string, drafts: Drafts): string => {
  const { field = '', saved = '' } = row.boxes[box] ?? {};
  return drafts[field]?.text ?? saved;
};

/** A draft that is the present value by now is no change. */
export const isBoxChanged = ({ field, saved }: Box, drafts: Drafts): boolean =>
  drafts[field] !== undefined && drafts[field].text !== saved;

export const isChanged = (row: Row, drafts: Drafts): boolean =>
  Object.values(row.boxes).some((box) => isBoxChanged(box, drafts));

/** Whether another one has changed a value after the user has typed a new one. */
export const isOvertaken = (row: Row, drafts: Drafts): boolean =>
  Object.values(row.boxes).some((box) => isBoxChanged(box, drafts) && drafts[box.field]?.saved !== box.saved);

/** All rows of a VM. */
export const allRows = (hardware: HardwareView, drafts: Drafts): Row[] => {
  const { cpu, memory } = sizeRows(hardware);
  const { order, autostart } = startRows(hardware);
  return [
    cpu,
    memory,
    ...diskRows(hardware).map(({ row }) => row),
    ...newRows('disk', drafts),
    ...nicRows(hardware).map(({ row }) => row),
    ...newRows('NIC', drafts),
    order,
    autostart,
    ...Object.values(placementRows(hardware)),
    ...deviceRows(hardware).map(({ row }) => row),
    ...newRows('device', drafts),
  ];
};
