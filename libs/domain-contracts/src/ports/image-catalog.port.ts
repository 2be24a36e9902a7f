/** A disk image on the server of its publisher, which is verified against the publisher's list of checksums. */
export interface CloudImage {
  /** The file may be compressed. */
  readonly url: string;
  /** The URL of the list that has the SHA-256 or SHA-512 checksum of the file. */
  readonly checksums: string;
  /** The URL of a signature of the list or of the file. It is not verified. */
  readonly signature?: string;
}

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
  /**
   * By the architecture of the guest, as libvirt names it. A backend that downloads images itself prefers them to the
   * container disk.
   */
  readonly cloudImages?: Readonly<Record<string, CloudImage>>;
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
