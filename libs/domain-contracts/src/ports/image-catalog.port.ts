/** A bootable image that users choose by name. */
export interface CatalogEntry {
  readonly name: string;
  readonly description: string;
  /** Container-disk URI; empty for an entry with another origin. */
  readonly containerDisk: string;
  readonly defaultUser: string;
  /** True only for user-defined entries. */
  readonly custom?: true;
  /** Where the image is downloaded from, for an entry that is a disk image or an installation medium. */
  readonly download?: { readonly kind: 'url' | 'iso'; readonly url: string };
  /** An image that was imported into the namespace of the new VM. */
  readonly imported?: true;
  /** The image that Headgate builds on this machine, for backends that run guests on it. */
  readonly builtLocally?: 'tiny';
}

/** The built-in images, followed by the user's own. */
export abstract class ImageCatalog {
  abstract entries(): readonly CatalogEntry[];

  /** @throws DomainError UNKNOWN_CATALOG_ENTRY */
  abstract find(name: string): CatalogEntry;
}
