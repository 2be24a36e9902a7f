import { VM_STATUSES, type VmStatus } from '@headgate/domain-contracts';
import { conditionOf, isTrue, type Condition } from '../api/kube-object.js';
import { LABEL, tagsOf } from '../labels.js';
import { bootDiskOf, type BootDisk } from './boot-disk.js';
import { sizeOfSpec, topologyCpus, bytesOf, type GuestSize } from './guest-size.js';
import type { Matcher, VmiObject, VmObject } from './vm-object.js';

/** What is kept of a VirtualMachine: only what its record needs. */
export interface VmFacts {
  readonly uid: string;
  readonly status: VmStatus;
  readonly ready: boolean;
  readonly size: GuestSize;
  /** Key of the instancetype that gives the size: `/<name>` in the cluster, `<namespace>/<name>` in a namespace. */
  readonly instancetype?: string;
  readonly disk: BootDisk;
  readonly tags: readonly string[];
  readonly createdAt?: string;
  readonly isTemplate: boolean;
  readonly protected: boolean;
  readonly restartRequired: boolean;
  readonly reason?: string;
}

/** What is kept of a VirtualMachineInstance. */
export interface VmiFacts {
  readonly node?: string;
  readonly ip?: string;
  readonly size: GuestSize;
  readonly liveMigratable: boolean;
  readonly agentConnected: boolean;
  readonly reason?: string;
}

const STATUSES: ReadonlySet<string> = new Set(VM_STATUSES);

/** Statuses that call for a sentence. */
const TROUBLE: ReadonlySet<VmStatus> = new Set<VmStatus>([
  'Unknown',
  'CrashLoopBackOff',
  'ErrorUnschedulable',
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrorPvcNotFound',
  'DataVolumeError',
]);

export function vmFacts(vm: VmObject): VmFacts {
  const { metadata, spec, status } = vm;
  const printed = status?.printableStatus ?? 'Stopped';
  const word = (STATUSES.has(printed) ? printed : 'Unknown') as VmStatus;
  const facts: VmFacts = {
    uid: metadata.uid ?? '',
    status: word,
    ready: status?.ready === true,
    size: sizeOfSpec(spec?.template?.spec),
    instancetype: instancetypeKey(spec?.instancetype, metadata.namespace ?? ''),
    disk: bootDiskOf(vm),
    tags: tagsOf(metadata.labels),
    createdAt: metadata.creationTimestamp,
    isTemplate: metadata.labels?.[LABEL.template] === 'true',
    protected: metadata.labels?.[LABEL.deleteProtection]?.toLowerCase() === 'true',
    restartRequired: isTrue(status?.conditions, 'RestartRequired'),
  };
  const failing = isTrue(status?.conditions, 'Failure');
  if (!failing && !TROUBLE.has(word)) return facts;
  return {
    ...facts,
    reason: reasonOf(status?.conditions) ?? (STATUSES.has(printed) ? undefined : `KubeVirt says ${printed}.`),
  };
}

export function vmiFacts({ spec, status, metadata }: VmiObject): VmiFacts {
  const wanted = sizeOfSpec(spec);
  const topology = status?.currentCPUTopology;
  return {
    node: status?.nodeName ?? metadata.labels?.['kubevirt.io/nodeName'],
    ip: status?.interfaces?.find(({ ipAddress }) => ipAddress)?.ipAddress,
    size: {
      cpu: topology ? topologyCpus(topology) : wanted.cpu,
      memoryBytes: bytesOf(status?.memory?.guestCurrent) ?? wanted.memoryBytes,
    },
    liveMigratable: isTrue(status?.conditions, 'LiveMigratable'),
    agentConnected: isTrue(status?.conditions, 'AgentConnected'),
    reason: reasonOf(status?.conditions),
  };
}

/** One sentence out of the conditions that tell what is wrong. */
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
