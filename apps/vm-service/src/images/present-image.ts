import type { CatalogEntryView } from '@headgate/api-contracts';
import type { CatalogEntry, ImageKind } from '@headgate/domain-contracts';

/** The JSON value of a catalog entry. JSON omits undefined fields. */
export const presentImage = (entry: CatalogEntry): CatalogEntryView => ({
  name: entry.name,
  description: entry.description,
  containerDisk: entry.containerDisk,
  kind: kindOfImage(entry),
  uri: entry.download?.url,
  defaultUser: entry.defaultUser,
  custom: entry.custom,
});

/** The kind with which most backends can use the image. */
export function kindOfImage({ builtLocally, download, containerDisk, cloudImages }: CatalogEntry): ImageKind {
  if (builtLocally !== undefined) return 'builtLocally';
  if (download) return download.kind;
  return containerDisk === '' && cloudImages ? 'cloudImage' : 'containerDisk';
}
