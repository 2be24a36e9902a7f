import type { Hardware, HardwareDisk, HardwareNic } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { Device, InstanceObject } from '../api/incus-objects.js';
import { bytesOf, cpusOf, memoryOf } from '../inventory/limits.js';
import { sizeOfMachine } from '../inventory/read-host.js';
import { findVolume } from '../provisioning/data-volume.js';
import type { Machines } from './machines.js';

/** The limits of a container. Without one, it may use the machine as a whole. */
export interface Size {
  readonly cpu: number;
  readonly memoryBytes: number;
}

/** As in the list of the containers. */
export async function sizeOf(machines: Machines, { expanded_config: config }: InstanceObject): Promise<Size> {
  const machine = sizeOfMachine(await machines.answering());
  return { cpu: cpusOf(config['limits.cpu'], machine), memoryBytes: memoryOf(config['limits.memory'], machine) };
}

export async function readHardware(api: IncusApi, machines: Machines, instance: InstanceObject): Promise<Hardware> {
  const [size, machine, disks] = await Promise.all([
    sizeOf(machines, instance),
    machines.of(instance),
    disksOf(api, instance),
  ]);
  return {
    ...size,
    maxCpu: machine?.cpu.total ?? null,
    maxMemoryBytes: machine?.memory.total ?? null,
    disks,
    nics: nicsOf(instance),
    bootOrder: [],
    autostart: null,
    placement: { dedicated: null, pinning: null, hugepageBytes: null },
    hostDevices: [],
    pending: [],
    changes: ['scale'],
  };
}

async function disksOf(api: IncusApi, instance: InstanceObject): Promise<HardwareDisk[]> {
  const disks = Object.entries(instance.expanded_devices).filter(([, { type }]) => type === 'disk');
  return Promise.all(disks.map(([device, one]) => diskOf(api, instance, device, one)));
}

async function diskOf(
  api: IncusApi,
  { name, project }: InstanceObject,
  device: string,
  { path = '', pool, source = '', size }: Device,
): Promise<HardwareDisk> {
  const disk = { device, type: 'disk', bus: path } as const;
  if (path === '/') return { ...disk, volume: `${pool ?? ''}/${name}`, sizeBytes: bytesOf(size) ?? null, isRoot: true };
  // A folder of the machine.
  if (pool === undefined) return { ...disk, volume: source, sizeBytes: null, isRoot: false };
  const volume = await findVolume(api, { pool, project, name: source });
  return {
    ...disk,
    volume: `${pool}/${source}`,
    sizeBytes: bytesOf(volume?.config['size']) ?? null,
    isRoot: false,
  };
}

function nicsOf({ config, expanded_devices: devices }: InstanceObject): HardwareNic[] {
  return Object.entries(devices).flatMap(([device, one]) => {
    if (one.type !== 'nic') return [];
    const { network = one.parent ?? '', nictype = '' } = one;
    const mac = one.hwaddr ?? config[`volatile.${device}.hwaddr`] ?? '';
    return [{ name: one.name ?? device, network, mac, model: nictype, isLinkUp: true }];
  });
}
