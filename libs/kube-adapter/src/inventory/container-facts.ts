import { CONTAINER_PHASES, type Container, type ContainerPhase, type InstanceRef } from '@headgate/domain-contracts';
import { conditionOf, isTrue } from '../api/kube-object.js';
import type { ClaimObject, PodObject } from '../api/object-types.js';
import { readRecordedSpec, type RecordedSpec } from '../containers/recorded-spec.js';
import { KUBEVIRT_TRAITS } from '../kubevirt-traits.js';
import { ANNOTATION, tagsOf } from '../labels.js';

/** The part of a container's data claim that its record is built from. The claim is the container's identity. */
export interface ContainerClaimFacts {
  readonly uid: string;
  readonly spec: RecordedSpec | undefined;
  readonly tags: readonly string[];
  readonly createdAt?: string;
}

/** The part of a container's pod that its record is built from. */
export interface ContainerPodFacts {
  readonly uid: string;
  readonly phase: ContainerPhase;
  readonly ready: boolean;
  readonly node?: string;
  readonly reason?: string;
}

const PHASES: ReadonlySet<string> = new Set(CONTAINER_PHASES);
/** Reasons to wait that are part of every start. */
const NORMAL_WAITING_REASONS: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

export const containerClaimFacts = ({ metadata }: ClaimObject): ContainerClaimFacts => ({
  uid: metadata.uid ?? '',
  spec: readRecordedSpec(metadata.annotations?.[ANNOTATION.spec]),
  tags: tagsOf(metadata.labels),
  createdAt: metadata.creationTimestamp,
});

export function containerPodFacts({ metadata, spec, status }: PodObject): ContainerPodFacts {
  const phase = status?.phase ?? 'Pending';
  return {
    uid: metadata.uid ?? '',
    phase: (PHASES.has(phase) ? phase : 'Unknown') as ContainerPhase,
    ready: isTrue(status?.conditions, 'Ready'),
    node: spec?.nodeName,
    reason: podProblem(status),
  };
}

function podProblem(status: PodObject['status']): string | undefined {
  for (const { state } of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const waiting = state?.waiting;
    if (waiting?.reason && !NORMAL_WAITING_REASONS.has(waiting.reason)) {
      return waiting.message ? `${waiting.reason}: ${waiting.message}` : waiting.reason;
    }
  }
  const scheduled = conditionOf(status?.conditions, 'PodScheduled');
  if (scheduled?.status === 'False') return scheduled.message ?? scheduled.reason;
  return status?.phase === 'Failed' ? (status.message ?? status.reason) : undefined;
}

export function containerRecord(
  ref: InstanceRef & { readonly kind: 'ct' },
  claim: ContainerClaimFacts,
  pod: ContainerPodFacts | undefined,
): Container {
  const reason = claim.spec ? pod?.reason : `The data volume has no valid ${ANNOTATION.spec} annotation.`;
  return {
    ref,
    backend: KUBEVIRT_TRAITS.kind,
    uid: claim.uid,
    phase: pod?.phase ?? 'Stopped',
    ready: pod?.ready ?? false,
    image: claim.spec?.image ?? '',
    privileged: claim.spec?.privileged ?? false,
    cpu: claim.spec?.cpu ?? 1,
    memoryBytes: claim.spec?.memoryBytes ?? 0,
    tags: claim.tags,
    ...(claim.createdAt === undefined ? {} : { createdAt: claim.createdAt }),
    ...(pod?.node === undefined ? {} : { node: pod.node }),
    ...(reason === undefined ? {} : { reason }),
  };
}
