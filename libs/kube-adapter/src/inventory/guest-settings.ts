import { formatBytes, type PendingSetting } from '@headgate/domain-contracts';
import type { GuestSpec } from '../api/object-types.js';
import { bootOrderOf, claimNameOf, networkName } from './guest-devices.js';
import { hostDevicesOf, readPlacement } from './read-placement.js';

/** The settings of a guest besides its size, by the names that users see; empty values are left out. */
export type GuestSettings = ReadonlyMap<string, string>;

/** In this order. */
const KINDS = ['disk', 'nic', 'host device', 'dedicated CPUs', 'emulator', 'NUMA nodes', 'hugepages', 'boot order'];

export function guestSettings(spec: GuestSpec): GuestSettings {
  const { dedicated, hugepageBytes } = readPlacement(spec);
  const all: readonly (readonly [field: string, value: string])[] = [
    ...(spec.volumes ?? []).map((volume) => [`disk ${volume.name}`, claimNameOf(volume) ?? volume.name] as const),
    ...(spec.domain?.devices?.interfaces ?? []).map(({ name }) => [`nic ${name}`, networkName(spec, name)] as const),
    ...hostDevicesOf(spec).map(({ name, device }) => [`host device ${name}`, device] as const),
    ['dedicated CPUs', dedicated?.isOn === true ? 'reserved' : ''],
    ['emulator', dedicated?.isolatesEmulator === true ? 'isolated' : ''],
    ['NUMA nodes', dedicated?.passesNuma === true ? 'visible' : ''],
    ['hugepages', hugepageBytes === null ? '' : formatBytes(hugepageBytes)],
    ['boot order', bootOrderOf(spec).join(', ')],
  ];
  return new Map(all.filter(([, value]) => value !== ''));
}

/** The settings that differ, with both values. */
export const differentSettings = (running: GuestSettings, configured: GuestSettings): PendingSetting[] =>
  [...new Set([...running.keys(), ...configured.keys()])]
    .map((field) => ({ field, running: running.get(field) ?? '', configured: configured.get(field) ?? '' }))
    .filter((setting) => setting.running !== setting.configured)
    .sort((a, b) => rankOf(a) - rankOf(b));

const rankOf = ({ field }: PendingSetting): number => KINDS.findIndex((kind) => field.startsWith(kind));

/** One text, which takes much less memory than a map. */
export const packSettings = (settings: GuestSettings): string =>
  [...settings].map(([field, value]) => `${field}\t${value}`).join('\n');

export const unpackSettings = (packed: string): GuestSettings =>
  new Map(
    packed.split('\n').flatMap((line): [string, string][] => {
      const at = line.indexOf('\t');
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
