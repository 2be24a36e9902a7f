import {
  DomainError,
  formatBytes,
  type ErrorCode,
  type Plan,
  type Refusal,
  type VmSpec,
} from '@headgate/domain-contracts';
import { instanceNameOf, LOCAL_NAMESPACE } from '../domains/instance-name.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { ExistingVolume } from '../storage/find-volume.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { creationSteps } from './creation-steps.js';
import type { Host } from './host.js';
import { planSource, type Refuse, type SourcePlanningParts } from './plan-source.js';
import { NO_DISC_WRITER } from './seed-iso.js';

export interface PlanningParts extends SourcePlanningParts {
  readonly finder: DomainFinder;
  readonly pool: StoragePool;
  readonly describeHost: () => Promise<Host>;
  readonly findDiscWriter: () => Promise<string | undefined>;
}

/** A plan, with what finding it out has learned. */
export interface CreationPlan extends Plan {
  readonly host: Host;
  readonly claim?: ExistingVolume;
  /** Whether the machine gets a cloud-init disc. */
  readonly hasSeed: boolean;
}

/** Room that libvirt and QEMU need for the first steps of any VM. */
const LEAST_SPACE_BYTES = 64 * 1024 ** 2;

/** Finds out everything that can be foreseen. Changes nothing. */
export async function planCreation(spec: VmSpec, parts: PlanningParts): Promise<CreationPlan> {
  const refusals: Refusal[] = [];
  const warnings: string[] = [];
  const refuse: Refuse = (code, reason, remedy) => void refusals.push({ code, reason, remedy });

  const [host, domains, pool, writer] = await Promise.all([
    parts.describeHost(),
    parts.finder.all(),
    parts.pool.state(),
    parts.findDiscWriter(),
  ]);
  const { name, namespace } = spec.ref;
  if (namespace !== LOCAL_NAMESPACE) {
    refuse(
      'INVALID_INPUT',
      `namespace must be "${LOCAL_NAMESPACE}": libvirt has no other.`,
      `Leave namespace out, or say "${LOCAL_NAMESPACE}".`,
    );
  }
  if (domains.some((domain) => domain.name === name || instanceNameOf(domain.name, domain.uuid) === name)) {
    refuse('ALREADY_EXISTS', `There is a VM ${name} already.`, 'Choose another name.');
  }
  if (spec.node !== undefined && spec.node !== host.name) {
    refuse(
      'NODE_NOT_FOUND',
      `There is no node ${spec.node}: this libvirt is ${host.name}.`,
      `Leave node out, or say ${host.name}.`,
    );
  }
  for (const field of ['instancetype', 'preference'] as const) {
    if (spec[field] !== undefined)
      refuse('NOT_SUPPORTED', `${field} needs KubeVirt: libvirt has none.`, `Leave ${field} out and give cpu and mem.`);
  }
  if (!['x86_64', 'aarch64'].includes(host.arch))
    refuse('NOT_SUPPORTED', `VMs on ${host.arch} machines are not supported.`, 'Use an x86_64 or aarch64 machine.');

  const claim = await planSource(spec, parts, refuse);
  const hasSeed = spec.cloudInit !== undefined || (writer !== undefined && !['pvc', 'iso'].includes(spec.source.kind));
  if (spec.cloudInit !== undefined && writer === undefined)
    refuse('NOT_SUPPORTED', NO_DISC_WRITER, 'Install xorriso, or leave cloudInit out.');

  if (pool?.isActive && pool.availableBytes < LEAST_SPACE_BYTES) {
    refuse(
      'INSUFFICIENT_STORAGE',
      `The storage pool ${parts.pool.name} has only ${formatBytes(pool.availableBytes)} left.`,
      'Free some space on this machine.',
    );
  } else if (pool?.isActive && claim === undefined && pool.availableBytes < spec.diskBytes) {
    warnings.push(`The disk may grow to ${formatBytes(spec.diskBytes)}, more than the storage pool has left now.`);
  }
  if (host.accelerator === 'tcg')
    warnings.push('KVM does not work on this machine: the VM is emulated in software and slow.');
  if (host.memoryBytes > 0 && spec.memoryBytes > host.memoryBytes)
    warnings.push('The VM gets more memory than this machine has.');
  if (host.network === undefined)
    warnings.push('libvirt\'s network "default" is not active: the VM reaches the network, and nothing reaches it.');

  return {
    steps: refusals.length > 0 ? [] : creationSteps(spec, hasSeed),
    warnings,
    refusals,
    host,
    hasSeed,
    ...(claim && { claim }),
  };
}

/** What stands in the way first, as an error. */
export function throwFirstRefusal({ refusals }: Plan): void {
  const [first] = refusals;
  if (first) throw new DomainError(first.code as ErrorCode, first.reason, { details: { refusals } });
}
