import {
  DomainError,
  formatBytes,
  type ErrorCode,
  type Plan,
  type PlanStep,
  type Refusal,
  type VmSource,
  type VmSpec,
} from '@headgate/domain-contracts';
import { instanceNameOf, LOCAL_NAMESPACE } from '../domains/instance-name.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { parseImageUrl } from '../fetching/download-image.js';
import { parseImageReference } from '../fetching/image-reference.js';
import type { ExistingVolume } from '../storage/find-volume.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { NO_DISC_WRITER } from './seed-iso.js';
import type { Host } from './host.js';

export interface PlanningParts {
  readonly finder: DomainFinder;
  readonly pool: StoragePool;
  readonly describeHost: () => Promise<Host>;
  readonly hasTinyGuest: boolean;
  readonly findDiscWriter: () => Promise<string | undefined>;
  readonly findClaim: (claim: string) => Promise<ExistingVolume>;
  /** Names of the domains that use a disk. */
  readonly usersOf: (path: string) => Promise<readonly string[]>;
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

export const BOOTC_REFUSAL = 'Building a VM from a bootc image needs the bootc plugin, which is not installed.';

/** Finds out everything that can be foreseen. Changes nothing. */
export async function planCreation(spec: VmSpec, parts: PlanningParts): Promise<CreationPlan> {
  const refusals: Refusal[] = [];
  const warnings: string[] = [];
  const refuse = (code: ErrorCode, reason: string, remedy: string): void =>
    void refusals.push({ code, reason, remedy });

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
    steps: refusals.length > 0 ? [] : stepsOf(spec, hasSeed),
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

type Refuse = (code: ErrorCode, reason: string, remedy: string) => void;

async function planSource(
  { source }: VmSpec,
  parts: PlanningParts,
  refuse: Refuse,
): Promise<ExistingVolume | undefined> {
  switch (source.kind) {
    case 'bootc':
      refuse('NOT_SUPPORTED', BOOTC_REFUSAL, 'Use a container disk, a catalog image or a URL.');
      return undefined;
    case 'image':
      if (source.entry.builtOnTheSpot === undefined)
        check(() => parseImageReference(source.entry.containerDisk), refuse);
      else if (!parts.hasTinyGuest) {
        refuse(
          'NOT_SUPPORTED',
          `This service can't build the image ${source.entry.name}.`,
          'Choose another catalog entry.',
        );
      }
      return undefined;
    case 'containerDisk':
      check(() => parseImageReference(source.image), refuse);
      return undefined;
    case 'import':
    case 'iso':
      check(() => parseImageUrl(source.url), refuse);
      return undefined;
    case 'pvc':
      return planClaim(source.claim, parts, refuse);
  }
}

async function planClaim(
  claim: string,
  { findClaim, usersOf }: PlanningParts,
  refuse: Refuse,
): Promise<ExistingVolume | undefined> {
  try {
    const volume = await findClaim(claim);
    const users = await usersOf(volume.path);
    if (users.length > 0)
      refuse(
        'BUSY',
        `The volume ${claim} is in use by ${users.join(', ')}.`,
        'Delete that VM first, or choose another volume.',
      );
    return volume;
  } catch (error) {
    if (!DomainError.is(error, 'VOLUME_NOT_FOUND', 'CONFLICT')) throw error;
    refuse(error.code, error.message, 'Give the name of a volume in a storage pool of libvirt.');
    return undefined;
  }
}

function check(parse: () => unknown, refuse: Refuse): void {
  try {
    parse();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    refuse(error.code, error.message, 'Correct the source.');
  }
}

export const containerDiskOf = (source: Extract<VmSource, { kind: 'image' | 'containerDisk' }>): string =>
  source.kind === 'containerDisk' ? source.image : source.entry.containerDisk;

function stepsOf(spec: VmSpec, hasSeed: boolean): PlanStep[] {
  const { name } = spec.ref;
  return [
    { name: 'define', detail: `Define the VM ${name} in libvirt.` },
    ...sourceSteps(spec),
    ...(hasSeed ? [{ name: 'seed', detail: 'Write the cloud-init disc.' }] : []),
    ...(spec.start ? [{ name: 'start', detail: `Start ${name}.` }] : []),
  ];
}

function sourceSteps({ source, diskBytes }: VmSpec): PlanStep[] {
  const disk = { name: 'disk', detail: `Make its disk of ${formatBytes(diskBytes)}.` };
  switch (source.kind) {
    case 'pvc':
      return [{ name: 'disk', detail: `Use the volume ${source.claim} as its disk.` }];
    case 'iso':
      return [{ name: 'download', detail: `Download the disc ${redactUrl(source.url)}.` }, disk];
    case 'import':
      return [{ name: 'download', detail: `Download the image ${redactUrl(source.url)}.` }, disk];
    case 'image':
      if (source.entry.builtOnTheSpot !== undefined)
        return [{ name: 'build', detail: `Take the image ${source.entry.name}, built on this machine.` }, disk];
      return [{ name: 'pull', detail: `Pull the container disk ${containerDiskOf(source)}.` }, disk];
    default:
      return [{ name: 'pull', detail: `Pull the container disk ${source.image}.` }, disk];
  }
}

/** A URL without what may be a password or a token in it. */
function redactUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  return `${url.origin}${url.pathname}`;
}
