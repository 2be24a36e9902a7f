import { dirname, basename } from 'node:path';
import {
  formatBytes,
  formatCpuSet,
  type Hardware,
  type HardwareDisk,
  type HardwareNic,
  type PendingSetting,
} from '@headgate/domain-contracts';
import type { DomainId } from '../connection/domain-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { VolumeId } from '../connection/storage-operations.js';
import { bootDisk, describeDomain, type DomainDescription } from '../domain-xml/domain-description.js';
import { attribute, element, elements, text, type XmlElement } from '../xml/xml.js';
import type { DomainState } from '../connection/domain-state.js';
import { hostdevsOf } from './hostdevs.js';
import { describeMemory, describePins, effectivePins, readPlacement } from './read-placement.js';

export interface DiskDevice extends HardwareDisk {
  /** Path of its file or block device; absent for an empty drive. */
  readonly path?: string;
  /** Its volume, if it is in an active storage pool. */
  readonly volumeId?: VolumeId;
  /** Whether it holds the cloud-init data, which is removed once the guest has read it. */
  readonly isSeed: boolean;
  readonly xml: XmlElement;
}

export interface NicDevice extends HardwareNic {
  /** libvirt's type: `network`, `bridge`, … */
  readonly type: string;
  readonly xml: XmlElement;
}

/** The devices of one XML document of a domain. */
export interface DomainDevices {
  readonly description: DomainDescription;
  readonly maxCpu: number;
  readonly maxMemoryBytes: number | null;
  readonly disks: readonly DiskDevice[];
  readonly nics: readonly NicDevice[];
}

/** A domain with its hardware, both that of the running guest and that of the next start. */
export interface DomainHardware {
  readonly id: DomainId;
  readonly state: DomainState;
  /** The running guest's; the same as `config` if it is not running. */
  readonly live: DomainDevices;
  readonly config: DomainDevices;
  readonly hardware: Hardware;
}

/** The user's aliases of devices begin with this in libvirt. */
export const ALIAS_PREFIX = 'ua-';
const KIB = 1024;

/** @returns undefined if the domain no longer exists */
export async function readDomainHardware(
  connection: LibvirtConnection,
  id: DomainId,
  ownPool: string,
): Promise<DomainHardware | undefined> {
  const [reading] = await connection.domains.read([id]);
  if (!reading) return undefined;
  const { xml, persistentXml = xml, state, diskBytes } = reading;
  const descriptions = [xml, persistentXml].map(describeDomain) as [DomainDescription, DomainDescription];
  const paths = descriptions.flatMap(({ disks }) => disks.flatMap(({ path }) => path ?? []));
  const volumes = await findVolumeIds(connection, paths);
  const sizes = await sizesOf(connection, volumes);
  const devices = (description: DomainDescription): DomainDevices =>
    describeDevices(description, { volumes, sizes, diskBytes, ownPool });
  const [live, config] = [devices(descriptions[0]), devices(descriptions[1])];
  const autostart = await connection.domains.autostart(id.uuid);
  const { cpu, memoryBytes } = live.description;
  const hardware: Hardware = {
    cpu,
    memoryBytes,
    maxCpu: live.maxCpu,
    maxMemoryBytes: live.maxMemoryBytes,
    disks: live.disks.filter(({ isSeed }) => !isSeed).map(publicDisk),
    nics: live.nics.map(publicNic),
    bootOrder: bootOrderOf(config),
    autostart,
    placement: readPlacement(config.description.document),
    hostDevices: hostdevsOf(live.description.document).map(({ name, device, kind }) => ({ name, device, kind })),
    pending: state.isActive ? differences(live, config, await onlineCpus(connection, xml)) : [],
  };
  return { id, state, live, config, hardware };
}

/** The CPUs of the host, to which a guest without pins is bound once pins were removed while it ran. */
const onlineCpus = async ({ host }: LibvirtConnection, xml: string): Promise<string> =>
  /<(?:vcpu|emulator)pin /.test(xml) ? formatCpuSet((await host.cpus()).online) : '';

interface VolumeFacts {
  readonly volumes: ReadonlyMap<string, VolumeId>;
  /** Virtual sizes by path. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Virtual sizes by target. */
  readonly diskBytes: ReadonlyMap<string, number>;
  readonly ownPool: string;
}

function describeDevices(description: DomainDescription, facts: VolumeFacts): DomainDevices {
  const { document } = description;
  const devices = element(document, 'devices');
  const root = bootDisk(description)?.target;
  const maximum = element(document, 'maxMemory');
  const seed = description.metadata.volumes.find(({ role }) => role === 'seed')?.name;
  return {
    description,
    maxCpu: Number(text(element(document, 'vcpu')) ?? description.cpu),
    maxMemoryBytes: maximum ? Number(text(maximum)) * KIB : null,
    disks: elements(devices, 'disk').map((xml) => describeDisk(xml, { ...facts, root, seed })),
    nics: elements(devices, 'interface').map(describeNic),
  };
}

function describeDisk(
  xml: XmlElement,
  { volumes, sizes, diskBytes, ownPool, root, seed }: VolumeFacts & { readonly root?: string; readonly seed?: string },
): DiskDevice {
  const [source, target] = [element(xml, 'source'), element(xml, 'target')];
  const device = attribute(target, 'dev') ?? '';
  const type = attribute(xml, 'device') === 'cdrom' ? 'cdrom' : 'disk';
  const path = attribute(source, 'file') ?? attribute(source, 'dev');
  const [pool, name] = [attribute(source, 'pool'), attribute(source, 'volume')];
  const volumeId =
    pool !== undefined && name !== undefined ? { pool, name } : path === undefined ? undefined : volumes.get(path);
  const isEmpty = path === undefined && volumeId === undefined;
  return {
    device,
    type,
    bus: attribute(target, 'bus') ?? '',
    sizeBytes: isEmpty ? null : ((path === undefined ? undefined : sizes.get(path)) ?? diskBytes.get(device) ?? null),
    isRoot: device === root,
    isSeed: seed !== undefined && volumeId?.name === seed,
    ...(path !== undefined && { path }),
    ...(volumeId && { volumeId, volume: volumeName(volumeId, ownPool) }),
    xml,
  };
}

/** A volume of the service's own pool is known by its name alone. */
export const volumeName = ({ pool, name }: VolumeId, ownPool: string): string =>
  pool === ownPool ? name : `${pool}/${name}`;

function describeNic(xml: XmlElement): NicDevice {
  const [source, mac] = [element(xml, 'source'), attribute(element(xml, 'mac'), 'address') ?? ''];
  const alias = attribute(element(xml, 'alias'), 'name');
  const type = attribute(xml, 'type') ?? '';
  return {
    // libvirt's own aliases exist only while the domain runs.
    name: alias?.startsWith(ALIAS_PREFIX) ? alias.slice(ALIAS_PREFIX.length) : mac.replaceAll(':', '-'),
    network: attribute(source, 'network') ?? attribute(source, 'bridge') ?? attribute(source, 'dev') ?? type,
    mac,
    model: attribute(element(xml, 'model'), 'type') ?? '',
    isLinkUp: attribute(element(xml, 'link'), 'state') !== 'down',
    type,
    xml,
  };
}

const publicDisk = ({ device, type, bus, sizeBytes, isRoot, volume }: DiskDevice): HardwareDisk => ({
  device,
  type,
  bus,
  sizeBytes,
  isRoot,
  ...(volume !== undefined && { volume }),
});

const publicNic = ({ name, network, mac, model, isLinkUp }: NicDevice): HardwareNic => ({
  name,
  network,
  mac,
  model,
  isLinkUp,
});

/** Devices with a boot order, or else the disk that the firmware tries first. */
export function bootOrderOf({ description, disks, nics }: DomainDevices): string[] {
  const orderOf = ({ xml }: { readonly xml: XmlElement }): number | undefined => {
    const order = attribute(elements(xml, 'boot')[0], 'order');
    return order === undefined ? undefined : Number(order);
  };
  const ordered = [
    ...disks.map((disk) => ({ name: disk.device, order: orderOf(disk) })),
    ...nics.map((nic) => ({ name: nic.name, order: orderOf(nic) })),
  ].filter((device): device is { name: string; order: number } => device.order !== undefined);
  if (ordered.length > 0) return ordered.sort((a, b) => a.order - b.order).map(({ name }) => name);
  const root = bootDisk(description)?.target;
  return root === undefined ? [] : [root];
}

/** The settings that a restart changes. @param online the CPUs of the host */
function differences(live: DomainDevices, config: DomainDevices, online: string): PendingSetting[] {
  const found: PendingSetting[] = [];
  const compare = (field: string, running: string, configured: string): void => {
    if (running !== configured) found.push({ field, running, configured });
  };
  compare('cpu', String(live.description.cpu), String(config.description.cpu));
  // A running domain has whole mebibytes.
  const memoryOf = ({ description }: DomainDevices): string =>
    formatBytes(Math.ceil(description.memoryBytes / KIB ** 2) * KIB ** 2);
  compare('memory', memoryOf(live), memoryOf(config));
  const disksOf = ({ disks }: DomainDevices): Map<string, string> =>
    new Map(
      disks.map(({ device, type, volume, path }) => [
        device,
        // Media can be changed while the VM runs.
        type === 'cdrom' ? 'cdrom' : (volume ?? path ?? ''),
      ]),
    );
  compareDevices('disk', disksOf(live), disksOf(config), compare);
  const nicsOf = ({ nics }: DomainDevices): Map<string, string> =>
    new Map(nics.map(({ name, network, model }) => [name, `${network} (${model})`]));
  compareDevices('nic', nicsOf(live), nicsOf(config), compare);
  compare('boot order', bootOrderOf(live).join(', '), bootOrderOf(config).join(', '));
  const hostdevsIn = ({ description }: DomainDevices): Map<string, string> =>
    new Map(
      hostdevsOf(description.document).map(({ kind, name }) => [
        // A running domain has the number of a USB device that it takes by its vendor and product.
        kind === 'usb' ? name.split('_').slice(0, 3).join('_') : name,
        kind,
      ]),
    );
  compareDevices('host device', hostdevsIn(live), hostdevsIn(config), compare);
  comparePlacements(live, config, online, compare);
  return found;
}

function comparePlacements(
  live: DomainDevices,
  config: DomainDevices,
  online: string,
  compare: (field: string, running: string, configured: string) => void,
): void {
  const [running, configured] = [live, config].map(({ description }) => {
    const { pinning, hugepageBytes } = readPlacement(description.document);
    if (!pinning) return { pins: '', emulator: '', memory: '', cells: '', pages: '' };
    const { vcpus, emulatorCpus } = effectivePins(pinning, online);
    return {
      pins: describePins(vcpus),
      emulator: emulatorCpus,
      memory: describeMemory(pinning),
      cells: pinning.cells.map(({ cpus, memoryBytes }) => `${cpus} with ${formatBytes(memoryBytes)}`).join(', '),
      pages: hugepageBytes === null ? '' : formatBytes(hugepageBytes),
    };
  });
  compare('CPU pins', running?.pins ?? '', configured?.pins ?? '');
  compare('emulator pins', running?.emulator ?? '', configured?.emulator ?? '');
  compare('memory nodes', running?.memory ?? '', configured?.memory ?? '');
  compare('NUMA nodes', running?.cells ?? '', configured?.cells ?? '');
  compare('hugepages', running?.pages ?? '', configured?.pages ?? '');
}

function compareDevices(
  kind: string,
  live: ReadonlyMap<string, string>,
  config: ReadonlyMap<string, string>,
  compare: (field: string, running: string, configured: string) => void,
): void {
  for (const name of new Set([...live.keys(), ...config.keys()])) {
    compare(`${kind} ${name}`, live.get(name) ?? '', config.get(name) ?? '');
  }
}

/** The volumes at paths, by path. A path outside of every active pool is no volume. */
async function findVolumeIds({ storage }: LibvirtConnection, paths: readonly string[]): Promise<Map<string, VolumeId>> {
  if (paths.length === 0) return new Map();
  const pools = await storage.activePools();
  const folders = new Map<string, string>();
  for (const pool of pools) {
    const folder = /<path>([^<]+)<\/path>/.exec(await storage.poolXml(pool).catch(() => ''))?.[1];
    if (folder !== undefined) folders.set(folder, pool);
  }
  return new Map(
    paths.flatMap((path) => {
      const pool = folders.get(dirname(path));
      return pool === undefined ? [] : [[path, { pool, name: basename(path) }] as const];
    }),
  );
}

/** The statistics of a stopped domain lack the sizes of volumes that libvirt has resized since. */
async function sizesOf(
  { storage }: LibvirtConnection,
  volumes: ReadonlyMap<string, VolumeId>,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const paths = [...volumes.keys()];
  (await storage.volumesAt(paths)).forEach((xml, i) => {
    const bytes = Number(/<capacity[^>]*>(\d+)</.exec(xml ?? '')?.[1]);
    if (Number.isFinite(bytes)) sizes.set(paths[i] ?? '', bytes);
  });
  return sizes;
}
