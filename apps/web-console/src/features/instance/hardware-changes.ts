import { t } from '@lingui/core/macro';
import type { HardwareChangeDto, HardwareView } from '@headgate/api-contracts';
import { diskProblem, memoryProblem } from '../../shared/quantity/quantity.js';
import type { Drafts } from './hardware-drafts.js';
import {
  allRows,
  deviceRows,
  diskRows,
  isBoxChanged,
  isChanged,
  newRows,
  nicRows,
  placementRows,
  sizeRows,
  startRows,
  textOf,
  type Row,
} from './hardware-rows.js';

type Change = Readonly<HardwareChangeDto>;

/** The typed changes of a machine as one request. */
export interface TypedChanges {
  readonly changes: readonly Change[];
  /** The rows of each change: CPUs and memory are one. */
  readonly rows: readonly (readonly string[])[];
  /** Why a row is no change yet, by its ID. */
  readonly problems: ReadonlyMap<string, string>;
  /** Drafts of devices that the machine no longer has. */
  readonly lost: readonly string[];
}

/** Builds the changes from the drafts. Pure, so that a reload or another tab builds the same ones. */
export function typedChanges(hardware: HardwareView, drafts: Drafts): TypedChanges {
  const found: { readonly rows: readonly Row[]; readonly change: Change }[] = [];
  const problems = new Map<string, string>();
  const add = (rows: readonly Row[], change: Change): void => void found.push({ rows, change });
  const check = (row: Row, problem: string | undefined): boolean => {
    if (problem !== undefined) problems.set(row.id, problem);
    return problem === undefined;
  };
  const text = (row: Row, box: string): string => textOf(row, box, drafts).trim();
  const has = (row: Row, name: string): boolean => {
    const box = row.boxes[name];
    return box !== undefined && isBoxChanged(box, drafts);
  };

  const { cpu, memory } = sizeRows(hardware);
  const isCpu = isChanged(cpu, drafts) && check(cpu, cpuProblem(text(cpu, 'count')));
  const isMemory = isChanged(memory, drafts) && check(memory, memoryProblem(compact(text(memory, 'size'))));
  if (isCpu || isMemory) {
    add([...(isCpu ? [cpu] : []), ...(isMemory ? [memory] : [])], {
      kind: 'scale',
      ...(isCpu && { cpu: Number(text(cpu, 'count')) }),
      ...(isMemory && { mem: compact(text(memory, 'size')) }),
    });
  }
  for (const { disk, name, row } of diskRows(hardware)) {
    if (!isChanged(row, drafts)) continue;
    if (disk.type === 'cdrom')
      add([row], { kind: 'change-medium', drive: disk.device, pvc: text(row, 'medium') || null });
    else if (has(row, 'removal'))
      add([row], { kind: 'detach-volume', pvc: name, ...(text(row, 'removal') === 'delete' && { delete: true }) });
    else if (check(row, diskProblem(compact(text(row, 'size')))))
      add([row], { kind: 'expand-volume', pvc: name, size: compact(text(row, 'size')) });
  }
  for (const row of newRows('disk', drafts).filter((one) => isChanged(one, drafts))) {
    const [size, volume] = [compact(text(row, 'size')), text(row, 'volume')];
    if (!check(row, size !== '' && volume !== '' ? t`Enter a size or choose a volume, not both.` : undefined)) continue;
    if (volume !== '') add([row], { kind: 'attach-volume', pvc: volume });
    else if (check(row, diskProblem(size))) add([row], { kind: 'attach-volume', size });
  }
  for (const { nic, row } of nicRows(hardware)) {
    if (!isChanged(row, drafts)) continue;
    const { iface } = nic;
    if (has(row, 'removal')) add([row], { kind: 'remove-nic', iface });
    else if (check(row, text(row, 'network') === '' ? t`Enter a network.` : undefined))
      add([row], {
        kind: 'change-nic',
        iface,
        ...(has(row, 'network') && { nad: text(row, 'network') }),
        ...(has(row, 'link') && { link: text(row, 'link') === 'up' ? 'up' : 'down' }),
      });
  }
  for (const row of newRows('NIC', drafts).filter((one) => isChanged(one, drafts))) {
    const [iface, nad] = [text(row, 'name'), text(row, 'network')];
    if (check(row, iface === '' || nad === '' ? t`Enter a name and a network.` : undefined))
      add([row], { kind: 'add-nic', iface, nad });
  }
  const { order, autostart } = startRows(hardware);
  // The name of a device has no comma.
  const devices = text(order, 'devices').split(',').filter(Boolean);
  if (isChanged(order, drafts) && check(order, devices.length === 0 ? t`Choose at least one device.` : undefined))
    add([order], { kind: 'set-boot-order', devices });
  if (isChanged(autostart, drafts)) add([autostart], { kind: 'set-autostart', on: text(autostart, 'on') === 'on' });
  addPlacement(hardware, drafts, { add, check, text, has });
  for (const { device, row } of deviceRows(hardware))
    if (isChanged(row, drafts)) add([row], { kind: 'detach-host-device', device: device.name });
  for (const row of newRows('device', drafts).filter((one) => isChanged(one, drafts)))
    if (check(row, text(row, 'device') === '' ? t`Enter the name of a device.` : undefined))
      add([row], { kind: 'attach-host-device', device: text(row, 'device') });

  const known = new Set(
    allRows(hardware, drafts).flatMap(({ boxes }) => Object.values(boxes).map(({ field }) => field)),
  );
  return {
    changes: found.map(({ change }) => change),
    rows: found.map(({ rows }) => rows.map(({ id }) => id)),
    problems,
    lost: Object.keys(drafts).filter((field) => field.includes(': ') && !known.has(field)),
  };
}

interface Builder {
  readonly add: (rows: readonly Row[], change: Change) => void;
  readonly check: (row: Row, problem: string | undefined) => boolean;
  readonly text: (row: Row, box: string) => string;
  readonly has: (row: Row, box: string) => boolean;
}

/** All settings of the placement are one change. */
function addPlacement(hardware: HardwareView, drafts: Drafts, { add, check, text, has }: Builder): void {
  const { dedicated, pins, pages } = placementRows(hardware);
  const changed = [dedicated, pins, pages].filter((row) => row !== undefined && isChanged(row, drafts)) as Row[];
  if (changed.length === 0) return;
  const parsed = pins && parsePins(text(pins, 'pins'));
  if (pins && !check(pins, parsed === undefined ? t`Write pins such as 0:2-3 1:4.` : undefined)) return;
  const isOn = dedicated && text(dedicated, 'on') === 'on';
  add(changed, {
    kind: 'set-placement',
    placement: {
      ...(dedicated &&
        changed.includes(dedicated) && {
          // The others need reserved CPUs.
          dedicated: isOn
            ? { on: true, isolateEmulator: text(dedicated, 'emulator') === 'on' }
            : { on: false, isolateEmulator: false, numa: false },
        }),
      ...(pins &&
        changed.includes(pins) && {
          pinning: {
            ...(has(pins, 'pins') && parsed && { vcpus: parsed }),
            ...(has(pins, 'emulator') && { emulatorCpus: text(pins, 'emulator') || null }),
            ...(has(pins, 'nodes') && {
              memory: text(pins, 'nodes') === '' ? null : { mode: 'strict' as const, nodes: text(pins, 'nodes') },
            }),
          },
        }),
      ...(changed.includes(pages) && { hugepages: compact(text(pages, 'size')) || null }),
    },
  });
}

/** `8 GiB` is `8Gi`. */
const compact = (size: string): string => size.replace(/\s+/g, '').replace(/^(\d.*i)B$/, '$1');

const cpuProblem = (text: string): string | undefined =>
  /^[1-9]\d{0,2}$/.test(text) && Number(text) <= 512 ? undefined : t`Enter a whole number from 1 to 512.`;

/** @returns undefined if the text has another form */
function parsePins(text: string): { vcpu: number; cpus: string }[] | undefined {
  const parts = text.split(/\s+/).filter((part) => part !== '');
  const pins = parts.flatMap((part) => {
    const [, vcpu, cpus] = /^(\d{1,3}):([\d,-]+)$/.exec(part) ?? [];
    return vcpu === undefined || cpus === undefined ? [] : [{ vcpu: Number(vcpu), cpus }];
  });
  return pins.length === parts.length ? pins : undefined;
}
