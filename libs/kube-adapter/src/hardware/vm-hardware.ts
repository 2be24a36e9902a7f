import {
  DomainError,
  formatBytes,
  type Clock,
  type Hardware,
  type HardwareDisk,
  type HardwareNic,
  type InstanceRef,
  type PendingSetting,
} from '@headgate/domain-contracts';
import { instanceNotFound } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import { conditionOf, isTrue } from '../api/kube-object.js';
import type {
  ClaimObject,
  DataVolumeObject,
  GuestSpec,
  GuestVolume,
  InstancetypeObject,
  VmiObject,
  VmObject,
} from '../api/object-types.js';
import {
  CLAIMS,
  CLUSTER_INSTANCETYPES,
  DATA_VOLUMES,
  INSTANCETYPES,
  VIRTUAL_MACHINES,
  VM_INSTANCES,
} from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import { bootDiskBytes } from '../inventory/boot-disk.js';
import { bytesOf, sizeOfSpec, type GuestSize } from '../inventory/guest-size.js';
import { bootOrderOf, claimNameOf, disksOf, networkName, rootDiskOf } from '../inventory/guest-devices.js';
import { differentSettings, guestSettings } from '../inventory/guest-settings.js';
import { vmiFacts } from '../inventory/vm-facts.js';
import { ANNOTATION } from '../labels.js';
import { isStopping } from '../power/power-requests.js';
import { hostDevicesOf, readPlacement } from '../inventory/read-placement.js';

export interface HardwareDeps {
  readonly api: KubeApi;
  readonly discovery: ClusterDiscovery;
  readonly clock: Clock;
}

export { bootOrderOf, claimNameOf, networkName, rootDiskOf };

/** A VM with its live instance, at one moment. */
export interface VmState {
  readonly ref: InstanceRef;
  readonly facts: ClusterFacts;
  readonly vm: VmObject;
  /** The configuration of the next start. */
  readonly spec: GuestSpec;
  /** Absent while the VM is not running. */
  readonly vmi?: VmiObject;
  /** Whether the live instance ends without being started again. */
  readonly isStopping: boolean;
  /** The size of the next start. */
  readonly size: Required<GuestSize>;
}

/** @throws DomainError INSTANCE_NOT_FOUND */
export async function readVmState({ api, discovery }: HardwareDeps, ref: InstanceRef): Promise<VmState> {
  const facts = await discovery.facts();
  const [vm, vmi] = await Promise.all([
    api.find<VmObject>(VIRTUAL_MACHINES, ref),
    api.find<VmiObject>(VM_INSTANCES, ref),
  ]);
  if (!vm || ref.kind !== 'vm') throw instanceNotFound(ref);
  const spec = vm.spec?.template?.spec ?? {};
  const own = sizeOfSpec(spec);
  const type = vm.spec?.instancetype?.name === undefined ? {} : await instancetypeSize(api, vm);
  const size = { cpu: own.cpu ?? type.cpu ?? 1, memoryBytes: own.memoryBytes ?? type.memoryBytes ?? 0 };
  const isLive = vmi && !['Succeeded', 'Failed'].includes(vmi.status?.phase ?? '');
  return { ref, facts, vm, spec, size, isStopping: isStopping(vm), ...(isLive && { vmi }) };
}

async function instancetypeSize(api: KubeApi, { metadata, spec }: VmObject): Promise<GuestSize> {
  const { name = '', kind = '' } = spec?.instancetype ?? {};
  const isNamespaced = /^virtualmachineinstancetypes?$/i.test(kind);
  const found = isNamespaced
    ? await api.find<InstancetypeObject>(INSTANCETYPES, { namespace: metadata.namespace, name })
    : await api.find<InstancetypeObject>(CLUSTER_INSTANCETYPES, { name });
  return { cpu: found?.spec?.cpu?.guest, memoryBytes: bytesOf(found?.spec?.memory?.guest) };
}

export const isHotpluggable = ({ dataVolume, persistentVolumeClaim }: GuestVolume): boolean =>
  dataVolume?.hotpluggable === true || persistentVolumeClaim?.hotpluggable === true;

/** Volumes that are not disks of their own: cloud-init data. */
const DATA_SOURCES = ['cloudInitNoCloud', 'cloudInitConfigDrive', 'sysprep', 'configMap', 'secret'];

const isData = (volume: GuestVolume | undefined): boolean =>
  volume !== undefined && DATA_SOURCES.some((source) => source in volume);

export async function readHardware(deps: HardwareDeps, state: VmState): Promise<Hardware> {
  const { spec, vmi, vm, size, ref } = state;
  const live = vmi?.spec ?? spec;
  const running = vmi ? vmiFacts(vmi).size : size;
  const root = rootDiskOf(live)?.name;
  const disks = await Promise.all(
    disksOf(live).map(async (disk): Promise<HardwareDisk> => {
      const volume = live.volumes?.find(({ name }) => name === disk.name);
      const claim = volume && claimNameOf(volume);
      return {
        device: disk.name,
        type: disk.cdrom === undefined ? 'disk' : 'cdrom',
        bus: (disk.disk ?? disk.cdrom ?? disk.lun)?.bus ?? '',
        sizeBytes:
          claim === undefined ? (bytesOf(volume?.emptyDisk?.capacity) ?? null) : await claimBytes(deps, ref, claim),
        isRoot: disk.name === root,
        ...(claim !== undefined && { volume: claim }),
      };
    }),
  );
  const nics = (live.domain?.devices?.interfaces ?? [])
    .filter(({ state }) => state !== 'absent')
    .map(({ name, model = 'virtio', macAddress, state }): HardwareNic => ({
      name,
      network: networkName(live, name),
      mac: macAddress ?? vmi?.status?.interfaces?.find((one) => one.name === name)?.mac ?? '',
      model,
      isLinkUp: state !== 'down',
    }));
  const isDataDisk = ({ device }: HardwareDisk): boolean => isData(live.volumes?.find(({ name }) => name === device));
  return {
    cpu: running.cpu ?? size.cpu,
    maxCpu: maxCpuOf(live),
    memoryBytes: running.memoryBytes ?? size.memoryBytes,
    maxMemoryBytes: bytesOf(live.domain?.memory?.maxGuest) ?? null,
    disks: disks.filter((disk) => !isDataDisk(disk)),
    nics,
    bootOrder: bootOrderOf(spec),
    autostart: null,
    placement: readPlacement(spec),
    hostDevices: hostDevicesOf(live),
    pending: isTrue(vm.status?.conditions, 'RestartRequired') && vmi ? differences(state, vmi) : [],
    applying: vmi ? sizeChanges(vmi) : [],
  };
}

const maxCpuOf = ({ domain }: GuestSpec): number | null => {
  const { maxSockets, cores = 1, threads = 1 } = domain?.cpu ?? {};
  return maxSockets === undefined ? null : maxSockets * cores * threads;
};

/** The size of a disk as the guest sees it: claims with a file system are larger than the disk in them. */
export async function claimBytes(
  { api }: HardwareDeps,
  { namespace }: InstanceRef,
  name: string,
): Promise<number | null> {
  const [claim, dataVolume] = await Promise.all([
    api.find<ClaimObject>(CLAIMS, { namespace, name }),
    findDataVolume(api, { namespace, name }),
  ]);
  const storage = dataVolume?.spec?.storage ?? dataVolume?.spec?.pvc;
  const requestedBytes =
    bytesOf(claim?.metadata.annotations?.[ANNOTATION.diskBytes]) ?? bytesOf(storage?.resources?.requests?.storage);
  const bytes = bytesOf(claim?.spec?.resources?.requests?.storage);
  return bytes === undefined && requestedBytes === undefined
    ? null
    : bootDiskBytes({ isVolatile: false, ...(requestedBytes !== undefined && { requestedBytes }) }, bytes);
}

/** @returns undefined if there is none, or no CDI */
export async function findDataVolume(
  api: KubeApi,
  path: { readonly namespace: string; readonly name: string },
): Promise<DataVolumeObject | undefined> {
  try {
    return await api.find<DataVolumeObject>(DATA_VOLUMES, path);
  } catch (error) {
    if (DomainError.is(error, 'NOT_SUPPORTED')) return undefined;
    throw error;
  }
}

/**
 * The sizes that the live instance is to have and the guest does not have yet. KubeVirt plugs CPUs and memory by a
 * migration, which begins after the change was accepted. Source: its live update of CPU sockets and guest memory.
 */
function sizeChanges(vmi: VmiObject): PendingSetting[] {
  const { spec, status } = vmi;
  const asked = sizeOfSpec(spec);
  const running = vmiFacts(vmi).size;
  const hasFailed = conditionOf(status?.conditions, 'HotMemoryChange')?.status === 'False';
  const isPluggable = spec?.domain?.memory?.maxGuest !== undefined && !hasFailed;
  const changes: PendingSetting[] = [];
  const compare = <T>(field: string, now: T | undefined, next: T | undefined, format: (value: T) => string): void => {
    if (now !== undefined && next !== undefined && now !== next)
      changes.push({ field, running: format(now), configured: format(next) });
  };
  compare('cpu', running.cpu, asked.cpu, String);
  if (isPluggable) compare('memory', running.memoryBytes, asked.memoryBytes, formatBytes);
  return changes;
}

/** The settings that the restart changes that KubeVirt requires. */
function differences({ spec, size, vm }: VmState, vmi: VmiObject): PendingSetting[] {
  const found: PendingSetting[] = [];
  const compare = (field: string, running: string, configured: string): void => {
    if (running !== configured) found.push({ field, running, configured });
  };
  const live = vmi.spec ?? {};
  const running = vmiFacts(vmi).size;
  compare('cpu', String(running.cpu ?? size.cpu), String(size.cpu));
  compare('memory', formatBytes(running.memoryBytes ?? size.memoryBytes), formatBytes(size.memoryBytes));
  for (const { field, running: before, configured } of differentSettings(guestSettings(live), guestSettings(spec)))
    compare(field, before, configured);
  // KubeVirt compares with the configuration at the start of the VM, and reports no field.
  const message = conditionOf(vm.status?.conditions, 'RestartRequired')?.message ?? '';
  return found.length > 0 ? found : [{ field: 'configuration', running: '', configured: message }];
}
