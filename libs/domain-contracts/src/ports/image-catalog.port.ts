/** A bootable image that a person picks by name. */
export interface CatalogEntry {
  readonly name: string;
  readonly description: string;
  /** Container-disk URI; empty for an entry that comes in another way. */
  readonly containerDisk: string;
  readonly defaultUser: string;
  /** True on user-defined entries only. */
  readonly custom?: true;
  /** The image that Headgate builds on the machine itself, for the libvirt backend only. */
  readonly builtLocally?: 'tiny';
}

/** The built-in images, then the user's own. */
export abstract class ImageCatalog {
  abstract entries(): readonly CatalogEntry[];

  /** @throws DomainError UNKNOWN_CATALOG_ENTRY */
  abstract find(name: string): CatalogEntry;
}
