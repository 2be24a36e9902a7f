import type { DomainDescription } from './domain-description.js';

/**
 * Whether the persistent configuration differs from the running domain in something that takes effect only after a
 * restart.
 */
export const hasPendingChanges = (live: DomainDescription, persistent: DomainDescription): boolean =>
  JSON.stringify(hardware(live)) !== JSON.stringify(hardware(persistent));

/**
 * The settings that the operator configures. libvirt adds the rest (aliases, addresses, paths) when a domain starts.
 */
const hardware = ({ cpu, memoryBytes, disks, nics, graphics }: DomainDescription) => ({
  cpu,
  // A running domain has whole mebibytes.
  memoryMebibytes: Math.ceil(memoryBytes / 1024 ** 2),
  graphics,
  disks: disks.map(({ target, device, path, pool, volume, bootOrder }) => ({
    target,
    device,
    // Media can be changed while the VM runs.
    source: device === 'cdrom' ? '' : pool === undefined ? path : `${pool}/${volume}`,
    bootOrder,
  })),
  nics: nics.map(({ mac, type, source, model }) => ({ mac, type, source, model })),
});
