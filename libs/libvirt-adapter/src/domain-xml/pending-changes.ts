import type { DomainDescription } from './domain-description.js';

/** Whether the description kept for the next start differs from the running machine in something that only a restart brings about. */
export const hasPendingChanges = (live: DomainDescription, kept: DomainDescription): boolean =>
  JSON.stringify(hardware(live)) !== JSON.stringify(hardware(kept));

/** What the operator configures; libvirt itself adds the rest (aliases, addresses, chosen paths) when a machine starts. */
const hardware = ({ cpu, memoryBytes, disks, nics, graphics }: DomainDescription) => ({
  cpu,
  memoryBytes,
  graphics,
  disks: disks.map(({ target, device, path, pool, volume, bootOrder }) => ({
    target,
    device,
    // A disc is put in and taken out while the machine runs.
    source: device === 'cdrom' ? '' : pool === undefined ? path : `${pool}/${volume}`,
    bootOrder,
  })),
  nics: nics.map(({ mac, type, source, model }) => ({ mac, type, source, model })),
});
