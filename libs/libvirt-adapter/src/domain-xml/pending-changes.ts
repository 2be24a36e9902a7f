import type { DomainDescription } from './domain-description.js';

/**
 * The number of settings in which the persistent configuration differs from the running domain, and which take effect
 * only after a restart: a device counts once.
 */
export function countPendingChanges(live: DomainDescription, persistent: DomainDescription): number {
  const [now, next] = [settings(live), settings(persistent)];
  return [...new Set([...now.keys(), ...next.keys()])].filter((name) => now.get(name) !== next.get(name)).length;
}

/**
 * The settings that the operator configures. libvirt adds the rest (aliases, addresses, paths) when a domain starts.
 */
const settings = ({ cpu, memoryBytes, disks, nics, graphics }: DomainDescription): ReadonlyMap<string, string> =>
  new Map<string, string>([
    ['cpu', String(cpu)],
    // A running domain has whole mebibytes.
    ['memory', String(Math.ceil(memoryBytes / 1024 ** 2))],
    ['graphics', JSON.stringify(graphics)],
    ...disks.map(({ target, device, path, pool, volume }): [string, string] => [
      `disk ${target}`,
      // Media can be changed while the VM runs.
      JSON.stringify([device, device === 'cdrom' ? '' : pool === undefined ? path : `${pool}/${volume}`]),
    ]),
    ...nics.map(({ mac, type, source, model }, index): [string, string] => [
      `nic ${mac ?? index}`,
      JSON.stringify([type, source, model]),
    ]),
    // The order of the devices counts as well, and that of booting is one setting.
    [
      'boot order',
      JSON.stringify(
        disks
          .map(({ target, bootOrder }) => [target, bootOrder])
          .filter(([, order]) => order !== undefined)
          .sort(),
      ),
    ],
  ]);
