import {
  isRunningStatus,
  VM_STATUSES,
  type InstanceRef,
  type VirtualMachine,
  type VmStatus,
} from '@headgate/domain-contracts';
import { conditionOf, isTrue, type Condition } from '../api/kube-object.js';
import type { GuestSpec, Matcher, VmiObject, VmObject } from '../api/object-types.js';
import { KUBEVIRT_TRAITS } from '../kubevirt-traits.js';
import { ANNOTATION, LABEL, tagsOf } from '../labels.js';
import { bootDiskBytes, bootDiskOf, type BootDisk } from './boot-disk.js';
import { differentSettings, guestSettings, packSettings, unpackSettings } from './guest-settings.js';
import { recordedOs, reportedOs } from './reported-os.js';
import { bytesOf, sizeOfSpec, topologyCpus, type GuestSize } from './guest-size.js';

/** The part of a VirtualMachine that its record is built from. */
export interface VmFacts {
  readonly uid: string;
  readonly status: VmStatus;
  readonly ready: boolean;
  readonly size: GuestSize;
  /** Key of the instancetype that defines the size: `/<name>`, or `<namespace>/<name>` of a namespaced one. */
  readonly instancetype?: string;
  readonly disk: BootDisk;
  /** Names of the DataVolumes among its volumes. */
  readonly dataVolumes: readonly string[];
  readonly tags: readonly string[];
  readonly createdAt?: string;
  readonly isTemplate: boolean;
  readonly protected: boolean;
  readonly restartRequired: boolean;
  /** The packed settings of the next start. Only while KubeVirt requires a restart for them. */
  readonly settings?: string;
  readonly reason?: string;
  /** The short ID of libosinfo, where this service has recorded it. */
  readonly os?: string;
}

/** The part of a VirtualMachineInstance that the VM's record is built from. */
export interface VmiFacts {
  readonly uid: string;
  readonly node?: string;
  readonly ip?: string;
  readonly size: GuestSize;
  readonly liveMigratable: boolean;
  readonly agentConnected: boolean;
  readonly reason?: string;
  readonly os?: string;
  readonly startedAt?: string;
  /** The packed settings of the running guest: a restart may be required for others later. */
  readonly settings: string;
}

const STATUSES: ReadonlySet<string> = new Set(VM_STATUSES);

/** Facts about a VM from objects other than the VM and its live instance. */
export interface RelatedFacts {
  readonly claimBytes?: number;
  readonly instancetype?: GuestSize;
  /** Why a DataVolume of the VM is not filled. */
  readonly diskReason?: string;
}

/** Statuses that need a reason. */
const PROBLEM_STATUSES: ReadonlySet<VmStatus> = new Set<VmStatus>([
  'Unknown',
  'CrashLoopBackOff',
  'ErrorUnschedulable',
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrorPvcNotFound',
  'DataVolumeError',
]);

/** Statuses that the VM's DataVolumes explain. */
const DISK_STATUSES: ReadonlySet<VmStatus> = new Set<VmStatus>([
  'DataVolumeError',
  'Provisioning',
  'WaitingForVolumeBinding',
]);

export function vmFacts(vm: VmObject): VmFacts {
  const { metadata, spec, status } = vm;
  // KubeVirt prints it only a moment after the deletion was accepted.
  const printed = metadata.deletionTimestamp === undefined ? (status?.printableStatus ?? 'Stopped') : 'Terminating';
  const vmStatus = (STATUSES.has(printed) ? printed : 'Unknown') as VmStatus;
  const restartRequired = isTrue(status?.conditions, 'RestartRequired');
  const facts: VmFacts = {
    uid: metadata.uid ?? '',
    status: vmStatus,
    ready: status?.ready === true,
    size: sizeOfSpec(spec?.template?.spec),
    instancetype: instancetypeKey(spec?.instancetype, metadata.namespace ?? ''),
    disk: bootDiskOf(vm),
    dataVolumes: dataVolumesOf(spec?.template?.spec),
    tags: tagsOf(metadata.labels),
    createdAt: metadata.creationTimestamp,
    isTemplate: metadata.labels?.[LABEL.template] === 'true',
    protected: metadata.labels?.[LABEL.deleteProtection]?.toLowerCase() === 'true',
    restartRequired,
    ...(restartRequired && { settings: packSettings(guestSettings(spec?.template?.spec ?? {})) }),
    os: recordedOs(metadata.annotations?.[ANNOTATION.guestOs]),
  };
  const failing = isTrue(status?.conditions, 'Failure');
  if (!failing && !PROBLEM_STATUSES.has(vmStatus)) return facts;
  return {
    ...facts,
    reason:
      reasonOf(status?.conditions) ?? (STATUSES.has(printed) ? undefined : `KubeVirt reports the status ${printed}.`),
  };
}

export function vmiFacts({ spec, status, metadata }: VmiObject): VmiFacts {
  const requested = sizeOfSpec(spec);
  const topology = status?.currentCPUTopology;
  return {
    uid: metadata.uid ?? '',
    node: status?.nodeName ?? metadata.labels?.['kubevirt.io/nodeName'],
    ip: status?.interfaces?.find(({ ipAddress }) => ipAddress)?.ipAddress,
    size: {
      cpu: topology ? topologyCpus(topology) : requested.cpu,
      memoryBytes: bytesOf(status?.memory?.guestCurrent) ?? requested.memoryBytes,
    },
    liveMigratable: isTrue(status?.conditions, 'LiveMigratable'),
    agentConnected: isTrue(status?.conditions, 'AgentConnected'),
    reason: reasonOf(status?.conditions),
    os: reportedOs(status?.guestOSInfo),
    settings: packSettings(guestSettings(spec ?? {})),
    startedAt: status?.phaseTransitionTimestamps?.find(({ phase }) => phase === 'Running')?.phaseTransitionTimestamp,
  };
}

/** The message of the condition that explains a problem. */
export function reasonOf(conditions: readonly Condition[] | undefined): string | undefined {
  const failure = conditionOf(conditions, 'Failure');
  if (failure?.status === 'True') return failure.message ?? failure.reason;
  for (const type of ['PodScheduled', 'Synchronized', 'DataVolumesReady', 'Provisioning']) {
    const condition = conditionOf(conditions, type);
    if (condition?.status === 'False' && condition.message) return condition.message;
  }
  return undefined;
}

function instancetypeKey(matcher: Matcher | undefined, namespace: string): string | undefined {
  if (!matcher?.name) return undefined;
  const kind = (matcher.kind ?? '').toLowerCase();
  const namespaced = kind === 'virtualmachineinstancetype' || kind === 'virtualmachineinstancetypes';
  return `${namespaced ? namespace : ''}/${matcher.name}`;
}

/** One array for the many VMs without DataVolumes. */
const NO_DATA_VOLUMES: readonly string[] = Object.freeze([]);

function dataVolumesOf(spec: GuestSpec | undefined): readonly string[] {
  const names = spec?.volumes?.flatMap(({ dataVolume }) => (dataVolume ? [dataVolume.name] : [])) ?? [];
  return names.length === 0 ? NO_DATA_VOLUMES : names;
}

/** At least one: KubeVirt compares more than this service knows. */
function countPending(vm: VmFacts, live: VmiFacts, instancetype: GuestSize | undefined): number {
  const { cpu = instancetype?.cpu, memoryBytes = instancetype?.memoryBytes } = vm.size;
  const sizes = [
    cpu !== undefined && live.size.cpu !== undefined && cpu !== live.size.cpu,
    memoryBytes !== undefined && live.size.memoryBytes !== undefined && memoryBytes !== live.size.memoryBytes,
  ].filter(Boolean).length;
  const others = differentSettings(unpackSettings(live.settings), unpackSettings(vm.settings ?? '')).length;
  return Math.max(1, sizes + others);
}

/** Builds the record of a VM from the VM, its live instance and the facts that other objects define. */
export function vmRecord(
  ref: InstanceRef & { readonly kind: 'vm' },
  vm: VmFacts,
  vmi: VmiFacts | undefined,
  { claimBytes, instancetype, diskReason }: RelatedFacts,
): VirtualMachine {
  const running = isRunningStatus(vm.status);
  const live = running ? vmi : undefined;
  const reason =
    (DISK_STATUSES.has(vm.status) ? diskReason : undefined) ??
    vm.reason ??
    (vm.status === 'ErrorUnschedulable' ? vmi?.reason : undefined);
  const os = live?.os ?? vm.os;
  return {
    ref,
    backend: KUBEVIRT_TRAITS.kind,
    uid: vm.uid,
    status: vm.status,
    ready: vm.ready,
    cpu: live?.size.cpu ?? vm.size.cpu ?? instancetype?.cpu ?? 1,
    memoryBytes: live?.size.memoryBytes ?? vm.size.memoryBytes ?? instancetype?.memoryBytes ?? 0,
    diskBytes: bootDiskBytes(vm.disk, claimBytes),
    tags: vm.tags,
    isTemplate: vm.isTemplate,
    liveMigratable: live?.liveMigratable ?? false,
    agentConnected: live?.agentConnected ?? false,
    protected: vm.protected,
    restartRequired: vm.restartRequired,
    ...(live && vm.restartRequired ? { pendingCount: countPending(vm, live, instancetype) } : {}),
    ...(vm.disk.isVolatile ? { volatile: true as const } : {}),
    ...(vm.createdAt === undefined ? {} : { createdAt: vm.createdAt }),
    ...(live?.node === undefined ? {} : { node: live.node }),
    ...(live?.ip === undefined ? {} : { ip: live.ip }),
    ...(reason === undefined ? {} : { reason }),
    ...(os === undefined ? {} : { os }),
    ...(live?.startedAt === undefined ? {} : { startedAt: live.startedAt }),
  };
}
