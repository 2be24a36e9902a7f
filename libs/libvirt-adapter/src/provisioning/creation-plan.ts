import {
  formatBytes,
  matchesNameRule,
  type InstanceRef,
  type Plan,
  type Refusal,
  type VmSpec,
} from '@headgate/domain-contracts';
import { instanceNameOf, LOCAL_NAMESPACE } from '../domains/instance-name.js';
import type { DomainFinder, DomainId } from '../domains/domain-finder.js';
import type { ExistingVolume } from '../storage/find-volume.js';
import { POOL_FLOOR_BYTES } from '../storage/pool-space.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { networkRefusals } from '../network/network-refusals.js';
import { planDiskPool } from './plan-disk-pool.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { creationSteps } from './creation-steps.js';
import { LIBVIRT_TRAITS } from '../libvirt-traits.js';
import type { Host } from '../host/host.js';
import { OWN_NETWORK } from '../network/guest-network.js';
import type { GuestProfiles } from '../guest-profiles/guest-profile.js';
import { planPlatform, type Platform } from './plan-platform.js';
import { planSource, type Refuse, type SourcePlanDeps } from './plan-source.js';
import { NO_DISC_WRITER } from '../seeds/seed-iso.js';

export interface CreationPlanDeps extends Omit<SourcePlanDeps, 'arch'> {
  readonly finder: DomainFinder;
  readonly pool: StoragePool;
  readonly connection: Pick<LibvirtConnection, 'networks'>;
  readonly describeHost: () => Promise<Host>;
  readonly profiles: GuestProfiles;
  readonly findDiscWriter: () => Promise<string | undefined>;
}

/** A plan, with the facts that were gathered for it. */
export interface CreationPlan extends Plan {
  readonly host: Host;
  readonly platform: Platform;
  readonly claim?: ExistingVolume;
  /** The pool of the boot disk. */
  readonly diskPool: StoragePool;
  /** Whether the VM gets a cloud-init seed. */
  readonly hasSeed: boolean;
}

/** The architecture of this service's machine as libvirt names it. */
const OWN_ARCHITECTURE = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as string] ?? process.arch;

/** Checks everything that can be checked in advance. Changes nothing. */
export async function planCreation(spec: VmSpec, deps: CreationPlanDeps): Promise<CreationPlan> {
  const refusals: Refusal[] = [];
  const warnings: string[] = [];
  const refuse: Refuse = (code, reason, remedy) => void refusals.push({ code, reason, remedy });

  const diskPool = await planDiskPool(spec, deps.pool, refuse);
  const [host, domains, pool, writer] = await Promise.all([
    deps.describeHost(),
    deps.finder.all(),
    diskPool.space(),
    deps.findDiscWriter(),
  ]);
  refuseName(spec.ref, domains, refuse);
  if (spec.node !== undefined && spec.node !== host.name) {
    refuse(
      'NODE_NOT_FOUND',
      `There is no node ${spec.node}: the only node is ${host.name}.`,
      `Omit node, or use ${host.name}.`,
    );
  }
  for (const field of ['instancetype', 'preference'] as const) {
    if (spec[field] !== undefined)
      refuse('NOT_SUPPORTED', `${field} requires KubeVirt.`, `Omit ${field} and set cpu and mem.`);
  }
  if (!['x86_64', 'aarch64'].includes(host.arch))
    refuse('NOT_SUPPORTED', `VMs on ${host.arch} machines are not supported.`, 'Use an x86_64 or aarch64 machine.');

  if (spec.source.kind === 'bootc' && host.arch !== OWN_ARCHITECTURE) {
    refuse(
      'NOT_SUPPORTED',
      `A disk from a bootc image is built on this machine, for ${OWN_ARCHITECTURE}; ${host.name} is an ${host.arch} machine.`,
      'Use another source.',
    );
  }

  const platform = await planPlatform(spec, { host, profiles: deps.profiles }, refuse);
  const claim = await planSource(spec, { ...deps, arch: host.arch }, refuse);
  const hasSeed = spec.cloudInit !== undefined || (writer !== undefined && !['pvc', 'iso'].includes(spec.source.kind));
  if (spec.cloudInit !== undefined && writer === undefined)
    refuse('NOT_SUPPORTED', NO_DISC_WRITER, 'Install xorriso, or omit cloudInit.');

  if (spec.network !== undefined) {
    const options = { field: 'network', mustBeActive: spec.start };
    refusals.push(...(await networkRefusals(deps.connection, spec.network, options)));
  }

  if (pool?.isActive && pool.availableBytes < POOL_FLOOR_BYTES) {
    refuse(
      'INSUFFICIENT_STORAGE',
      `The storage pool ${diskPool.name} has only ${formatBytes(pool.availableBytes)} free.`,
      'Free some space on this machine.',
    );
  } else if (pool?.isActive && claim === undefined && pool.capacityBytes > 0 && spec.diskBytes > pool.capacityBytes) {
    refuse(
      'INSUFFICIENT_STORAGE',
      `disk: ${formatBytes(spec.diskBytes)} is more than the whole storage pool ${diskPool.name}, which has ${formatBytes(pool.capacityBytes)}.`,
      'Choose a smaller disk.',
    );
  } else if (pool?.isActive && claim === undefined && pool.availableBytes < spec.diskBytes) {
    warnings.push(
      `The disk may grow to ${formatBytes(spec.diskBytes)}, which is more than the free space in the storage pool.`,
    );
  }
  if (host.accelerator === 'tcg')
    warnings.push('KVM is not available on this machine, so the VM uses software emulation, which is slow.');
  if (host.memoryBytes > 0 && spec.memoryBytes > host.memoryBytes)
    warnings.push('The VM gets more memory than this machine has.');
  const startsNetwork = spec.network === undefined && host.network === undefined;
  if (startsNetwork)
    warnings.push(
      `No libvirt network for VMs is active. The network "${OWN_NETWORK}" is started for this VM; if that fails, the VM gets no network card.`,
    );

  return {
    steps: refusals.length > 0 ? [] : creationSteps(spec, { hasSeed, startsNetwork, arch: host.arch }),
    warnings,
    refusals,
    host,
    platform,
    hasSeed,
    diskPool,
    ...(claim && { claim }),
  };
}

/** Refuses a name that libvirt does not accept, or that is taken. */
export function refuseName({ name, namespace }: InstanceRef, domains: readonly DomainId[], refuse: Refuse): void {
  const { instanceNames } = LIBVIRT_TRAITS;
  if (!matchesNameRule(instanceNames, name)) {
    refuse('INVALID_NAME', `name must ${instanceNames.description}; "${name}" does not.`, 'Choose another name.');
  }
  if (namespace !== LOCAL_NAMESPACE) {
    refuse(
      'INVALID_INPUT',
      `namespace must be "${LOCAL_NAMESPACE}": it is the only namespace of a libvirt context.`,
      `Omit namespace, or use "${LOCAL_NAMESPACE}".`,
    );
  }
  if (domains.some((domain) => domain.name === name || instanceNameOf(domain.name, domain.uuid) === name)) {
    refuse('ALREADY_EXISTS', `A VM named ${name} already exists.`, 'Choose another name.');
  }
}
