import { basename } from 'node:path';
import { parseImageUrl, type EgressPolicy, parseImageReference } from '@headgate/downloads';
import { DomainError, formatBytes, type ErrorCode, type VmSpec } from '@headgate/domain-contracts';
import type { ImportedBases } from '../images/imported-bases.js';
import { isImportedImage } from '../images/libvirt-images.js';
import { isBaseImage } from '../storage/base-images.js';
import { cloudImageOf, importedName } from './creation-steps.js';
import type { ExistingVolume } from '../storage/find-volume.js';

export interface SourcePlanDeps {
  readonly egress: EgressPolicy;
  /** Whether there is enough free space to begin a download. */
  readonly hasSpaceForDownloads: () => Promise<boolean>;
  readonly hasTinyGuest: boolean;
  /** The guest architecture as libvirt names it. */
  readonly arch: string;
  readonly imported: Pick<ImportedBases, 'bytesOf'>;
  readonly findClaim: (claim: string) => Promise<ExistingVolume>;
  /** Names of the domains that use a disk. */
  readonly usersOf: (path: string) => Promise<readonly string[]>;
}

export type Refuse = (code: ErrorCode, reason: string, remedy: string) => void;

/**
 * Refuses a source that can't be used.
 * @returns the existing volume that the VM boots from, if the source is one
 */
export async function planSource(
  { source, diskBytes }: VmSpec,
  deps: SourcePlanDeps,
  refuse: Refuse,
): Promise<ExistingVolume | undefined> {
  const isLocal =
    source.kind === 'pvc' ||
    importedName(source) !== undefined ||
    (source.kind === 'image' && source.entry.builtLocally !== undefined);
  if (!isLocal && source.kind !== 'bootc' && !(await deps.hasSpaceForDownloads())) {
    refuse(
      'INSUFFICIENT_STORAGE',
      'The disk of this machine is almost full, so no image can be downloaded.',
      'Free some space on this machine.',
    );
  }
  switch (source.kind) {
    case 'bootc':
      return undefined;
    case 'image':
      if (source.entry.imported) return planImported(source.entry.name, diskBytes, deps, refuse);
      if (source.entry.builtLocally === undefined) checkCatalogImage(source, deps, refuse);
      else if (!deps.hasTinyGuest) {
        refuse(
          'NOT_SUPPORTED',
          `The image ${source.entry.name} can't be built on this machine.`,
          'Choose another catalog entry.',
        );
      }
      return undefined;
    case 'containerDisk':
      check(() => parseImageReference(source.image), refuse);
      return undefined;
    case 'import':
    case 'iso':
      check(() => deps.egress.checkLiteral(parseImageUrl(source.url).url), refuse);
      return undefined;
    case 'pvc':
      return planClaim(source.claim, deps, refuse);
  }
}

function checkCatalogImage(
  source: Extract<VmSpec['source'], { kind: 'image' }>,
  { egress, arch }: SourcePlanDeps,
  refuse: Refuse,
): void {
  const { name, containerDisk, cloudImages } = source.entry;
  const image = cloudImageOf(source, arch);
  if (image) {
    for (const url of [image.url, image.checksums]) check(() => egress.checkLiteral(parseImageUrl(url).url), refuse);
  } else if (containerDisk === '' && cloudImages) {
    refuse(
      'NOT_SUPPORTED',
      `The image ${name} is available for ${Object.keys(cloudImages).join(' and ')} only, and this machine is ${arch}.`,
      'Choose another image.',
    );
  } else {
    check(() => parseImageReference(containerDisk), refuse);
  }
}

async function planImported(
  name: string,
  diskBytes: number,
  { imported }: SourcePlanDeps,
  refuse: Refuse,
): Promise<undefined> {
  const bytes = await imported.bytesOf(name);
  if (bytes === undefined) {
    refuse('UNKNOWN_CATALOG_ENTRY', `There is no imported image ${name} that is ready.`, 'Import it first.');
  } else if (bytes > diskBytes) {
    refuse(
      'INVALID_QUANTITY',
      `disk must be at least ${formatBytes(bytes)}, the size of the image.`,
      'Choose a larger disk.',
    );
  }
}

async function planClaim(
  claim: string,
  { findClaim, usersOf }: SourcePlanDeps,
  refuse: Refuse,
): Promise<ExistingVolume | undefined> {
  try {
    const volume = await findClaim(claim);
    if (isBaseImage(basename(volume.path)) || isImportedImage(basename(volume.path))) {
      refuse('CONFLICT', `The volume ${claim} is an image on which other disks are based.`, 'Choose another volume.');
      return undefined;
    }
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
