import { createHash } from 'node:crypto';
import type { PlanStep } from '@headgate/domain-contracts';
import type { XmlElement } from '../../xml/xml.js';
import type { DomainHardware } from '../domain-hardware.js';
import { freePlaces } from '../pcie-ports.js';

/** The file of a new disk. */
export interface DiskFile {
  readonly path: string;
  readonly format: string;
  readonly volume: string;
}

/** Where a new disk goes. */
export interface Place {
  readonly target: string;
  readonly bus: 'virtio' | 'sata';
  readonly effect: 'now' | 'next-start';
  readonly warnings: readonly string[];
}

/** Disks are virtio where the guest has a driver for it; SATA disks can't be added while a guest runs. */
export function newPlace({ state, live, config }: DomainHardware): Place {
  const root = config.disks.find(({ isRoot }) => isRoot);
  const bus = root === undefined || root.bus === 'virtio' ? 'virtio' : 'sata';
  const target = freeTarget(
    bus,
    [...live.disks, ...config.disks].map(({ device }) => device),
  );
  if (!state.isActive) return { target, bus, effect: 'next-start', warnings: [] };
  if (bus === 'sata') {
    return {
      target,
      bus,
      effect: 'next-start',
      warnings: ['A SATA disk appears when the VM is started the next time.'],
    };
  }
  if (freePlaces(live.description.document) === 0) {
    return {
      target,
      bus,
      effect: 'next-start',
      warnings: ['The running VM has no free PCI slot: the disk appears at its next start.'],
    };
  }
  return { target, bus, effect: 'now', warnings: [] };
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

function freeTarget(bus: Place['bus'], taken: readonly string[]): string {
  const prefix = bus === 'virtio' ? 'vd' : 'sd';
  const names = [...LETTERS].flatMap((first) => [...LETTERS].map((second) => `${first}${second}`));
  const found = [...LETTERS, ...names].map((letters) => `${prefix}${letters}`).find((name) => !taken.includes(name));
  return found ?? `${prefix}zz`;
}

export const attachStep = ({ id }: DomainHardware, { target, effect }: Place, volume = 'it'): PlanStep => ({
  name: 'attach',
  detail: `Attach ${volume} to ${id.name} as ${target}${effect === 'now' ? ', immediately' : ''}.`,
});

/** The guest finds the disk by its serial number. QEMU cuts it off after 20 characters. */
const serialOf = (volume: string): string => createHash('sha256').update(volume).digest('hex').slice(0, 20);

export const diskElement = ({ target, bus }: Place, { path, format, volume }: DiskFile): XmlElement => ({
  '@type': path.startsWith('/dev/') ? 'block' : 'file',
  '@device': 'disk',
  driver: { '@name': 'qemu', '@type': format, '@discard': 'unmap', '@detect_zeroes': 'unmap' },
  source: path.startsWith('/dev/') ? { '@dev': path } : { '@file': path },
  target: { '@dev': target, '@bus': bus },
  serial: serialOf(volume),
});
