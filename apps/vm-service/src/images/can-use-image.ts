import type { CatalogEntry, ImageKind, VmSourceKind } from '@headgate/domain-contracts';
import { kindOfImage } from './present-image.js';

export interface ImageSupport {
  readonly imageKinds: readonly ImageKind[];
  /** True, or the reason why VMs can't be created from the source. */
  readonly sources: Readonly<Partial<Record<VmSourceKind, true | string>>>;
}

/** Whether a context can create VMs from an image of the catalog. */
export function canUseImage(entry: CatalogEntry, { imageKinds, sources }: ImageSupport): boolean {
  const kind = kindOfImage(entry);
  return imageKinds.includes(kind) && sources.image === true && sources[sourceOf(kind, entry)] === true;
}

/** The source that the image is created from in the end. */
function sourceOf(kind: ImageKind, { containerDisk }: CatalogEntry): VmSourceKind {
  if (kind === 'iso') return 'iso';
  return kind === 'url' || /^https?:\/\//.test(containerDisk) ? 'import' : 'image';
}
