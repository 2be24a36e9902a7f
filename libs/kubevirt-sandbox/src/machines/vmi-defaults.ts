import { hash } from 'node:crypto';
import { binaryQuantity, GIB, quantityValue } from '../quantity.js';
import type { Disk, VmiSpec } from '../types/virtual-machine-instance.js';

const MAX_CPUS = 512;
const DEFAULT_HOTPLUG_RATIO = 4;
const HOTPLUG_ALIGNMENT = 2 ** 21;

/** The memory that the guest sees at its start, in bytes. */
export function guestMemoryBytes({ domain }: VmiSpec): number {
  const { memory, resources } = domain;
  return quantityValue(memory?.guest ?? resources?.requests?.memory ?? resources?.limits?.memory ?? '0');
}

export function vcpus({ domain }: VmiSpec): number {
  const { sockets = 1, cores = 1, threads = 1 } = domain.cpu ?? {};
  return sockets * cores * threads;
}

/** A MAC address in the locally administered range, derived from its use. */
export function macAddressFor(seed: string): string {
  const digest = hash('sha1', seed, 'buffer');
  return ['02', ...[...digest.subarray(0, 5)].map((byte) => byte.toString(16).padStart(2, '0'))].join(':');
}

/** Fills in KubeVirt's defaults for a new VMI. Safe to repeat. */
export function applyVmiDefaults(spec: VmiSpec, maxHotplugRatio = DEFAULT_HOTPLUG_RATIO): void {
  const { domain } = spec;
  spec.architecture ??= 'amd64';
  domain.machine = { type: domain.machine?.type || 'q35' };
  domain.resources ??= {};
  applyDisks(spec);
  applyNetworks(spec);
  applyCpu(spec, maxHotplugRatio);
  applyMemory(spec, maxHotplugRatio);
  spec.terminationGracePeriodSeconds ??= 30;
}

/** Adds a disk for every volume that has none. */
export function applyDisks(spec: VmiSpec): void {
  const { devices } = spec.domain;
  const disks: Disk[] = devices.disks ?? [];
  for (const volume of spec.volumes ?? []) {
    if (!disks.some(({ name }) => name === volume.name)) disks.push({ name: volume.name, disk: { bus: 'virtio' } });
  }
  if (disks.length > 0) devices.disks = disks;
}

function applyNetworks(spec: VmiSpec): void {
  const { devices } = spec.domain;
  if (devices.autoattachPodInterface === false || spec.networks?.length || devices.interfaces?.length) return;
  spec.networks = [{ name: 'default', pod: {} }];
  devices.interfaces = [{ name: 'default', bridge: {} }];
}

function applyCpu({ domain }: VmiSpec, ratio: number): void {
  const asked = domain.cpu;
  const fromResources = Math.ceil(
    quantityValue(domain.resources?.limits?.cpu ?? domain.resources?.requests?.cpu ?? '1') || 1,
  );
  const cpu = { cores: 1, threads: 1, sockets: asked?.cores || asked?.threads ? 1 : fromResources, ...asked };
  const perSocket = cpu.cores * cpu.threads;
  cpu.maxSockets ??= Math.max(cpu.sockets, Math.min(cpu.sockets * ratio, Math.floor(MAX_CPUS / perSocket)));
  cpu.model ??= 'host-model';
  domain.cpu = cpu;
}

function applyMemory(spec: VmiSpec, ratio: number): void {
  const { domain } = spec;
  const bytes = guestMemoryBytes(spec);
  if (!domain.memory?.guest && !bytes) return;
  domain.memory = { guest: domain.memory?.guest ?? binaryQuantity(bytes), ...domain.memory };
  // Memory can be hot-plugged only in pages of 2 MiB and to guests with at least 1 GiB.
  if (bytes >= GIB && bytes % HOTPLUG_ALIGNMENT === 0) domain.memory.maxGuest ??= binaryQuantity(bytes * ratio);
}
