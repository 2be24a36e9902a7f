import {
  displayUrl,
  formatBytes,
  type CloudImage,
  type PlanStep,
  type VmSource,
  type VmSpec,
} from '@headgate/domain-contracts';
import { OWN_NETWORK } from '../network/guest-network.js';

/** The steps of the tasks that are steps of their plans, too. */
export const TASK_STEPS = {
  build: 'Building the image',
  download: 'Downloading the image',
  downloadIso: 'Downloading the ISO',
  disk: 'Creating the disk',
  seed: 'Writing the cloud-init seed',
  start: 'Starting the VM',
} as const;
const DOWNLOAD = [TASK_STEPS.download];

/** The steps of creating a VM, as shown to the user. */
export function creationSteps(
  spec: VmSpec,
  { hasSeed, startsNetwork, arch }: { hasSeed: boolean; startsNetwork: boolean; arch: string },
): PlanStep[] {
  const { name } = spec.ref;
  return [
    ...(startsNetwork ? [{ name: 'network', detail: `Start the network ${OWN_NETWORK}.` }] : []),
    {
      name: 'define',
      detail: `Define the VM ${name} in libvirt${spec.network === undefined ? '' : `, on the network ${spec.network}`}.`,
    },
    ...sourceSteps(spec, arch),
    ...(hasSeed ? [{ name: 'seed', detail: 'Write the cloud-init seed.', reportedAs: [TASK_STEPS.seed] }] : []),
    ...(spec.start ? [{ name: 'start', detail: `Start ${name}.`, reportedAs: [TASK_STEPS.start] }] : []),
  ];
}

function sourceSteps({ source, diskBytes, storageClass }: VmSpec, arch: string): PlanStep[] {
  const disk = {
    name: 'disk',
    detail: `Create its disk of ${formatBytes(diskBytes)}${storageClass === undefined ? '' : ` in the pool ${storageClass}`}.`,
    reportedAs: [TASK_STEPS.disk],
  };
  switch (source.kind) {
    case 'pvc':
      return [{ name: 'disk', detail: `Use the volume ${source.claim} as its disk.` }];
    case 'iso':
      return [
        {
          name: 'download',
          detail: `Download the ISO ${displayUrl(source.url)}.`,
          reportedAs: [TASK_STEPS.downloadIso],
        },
        disk,
      ];
    case 'import':
      return [
        { name: 'download', detail: `Download the image ${displayUrl(source.url)}.`, reportedAs: DOWNLOAD },
        disk,
      ];
    case 'image':
      if (source.entry.imported)
        return [{ name: 'base', detail: `Use the imported image ${source.entry.name}.` }, disk];
      if (source.entry.builtLocally !== undefined)
        return [
          {
            name: 'build',
            detail: `Use the image ${source.entry.name}, which is built on this machine.`,
            reportedAs: [TASK_STEPS.build],
          },
          disk,
        ];
      return [...fetchSteps(source, arch), disk];
    case 'bootc':
      return [disk];
    default:
      return [{ name: 'pull', detail: `Pull the container disk ${source.image}.`, reportedAs: DOWNLOAD }, disk];
  }
}

function fetchSteps(source: Extract<VmSource, { kind: 'image' }>, arch: string): PlanStep[] {
  const image = cloudImageOf(source, arch);
  if (!image)
    return [{ name: 'pull', detail: `Pull the container disk ${containerDiskOf(source)}.`, reportedAs: DOWNLOAD }];
  return [
    { name: 'download', detail: `Download the image ${displayUrl(image.url)}.`, reportedAs: DOWNLOAD },
    { name: 'verify', detail: `Compare it with the checksum in ${displayUrl(image.checksums)}.` },
  ];
}

/** The download of a catalog image for an architecture. */
export const cloudImageOf = (source: VmSource, arch: string): CloudImage | undefined =>
  source.kind === 'image' ? source.entry.cloudImages?.[arch] : undefined;

export const containerDiskOf = (source: Extract<VmSource, { kind: 'image' | 'containerDisk' }>): string =>
  source.kind === 'containerDisk' ? source.image : source.entry.containerDisk;

/** The name of the imported image that is the source. */
export const importedName = (source: VmSource): string | undefined =>
  source.kind === 'image' && source.entry.imported ? source.entry.name : undefined;
