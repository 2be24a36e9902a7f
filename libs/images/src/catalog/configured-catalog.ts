import { DomainError, ImageCatalog, type CatalogEntry } from '@headgate/domain-contracts';

/** The image that Headgate builds on this machine, so that a VM can boot without a download. */
const TINY: CatalogEntry = {
  name: 'tiny',
  description: 'A tiny Linux, built on this machine: serial and graphical console, DHCP, guest agent, cloud-init.',
  containerDisk: '',
  defaultUser: 'headgate',
  builtLocally: 'tiny',
};

export interface CatalogOptions {
  /** Whether to offer the image that is built on this machine. */
  readonly tiny: boolean;
  /** The entries of the catalog file. */
  readonly catalog: readonly CatalogEntry[];
  /** Host and optional port of a registry that mirrors the container disks of the catalog file. */
  readonly registry?: string;
  /** The operator's own entries. They replace those of the catalog file that have the same name. */
  readonly images: readonly CatalogEntry[];
}

/** The built-in images, followed by those of the configuration. */
export class ConfiguredCatalog extends ImageCatalog {
  private readonly byName: ReadonlyMap<string, CatalogEntry>;

  constructor({ tiny, catalog, registry, images }: CatalogOptions) {
    super();
    const builtIn = tiny ? [TINY] : [];
    const listed = registry === undefined ? catalog : catalog.map((entry) => mirrored(entry, registry));
    this.byName = new Map([...builtIn, ...listed, ...images].map((entry) => [entry.name, entry]));
  }

  override entries(): readonly CatalogEntry[] {
    return [...this.byName.values()];
  }

  override find(name: string): CatalogEntry {
    const entry = this.byName.get(name);
    if (entry) return entry;
    const names = [...this.byName.keys()].join(', ');
    throw new DomainError(
      'UNKNOWN_CATALOG_ENTRY',
      `image must be one of the catalog's names (${names || 'it is empty'}); "${name.slice(0, 80)}" is not.`,
    );
  }
}

/** An operator who names a registry wants the images from there, on all backends. */
function mirrored({ cloudImages, ...entry }: CatalogEntry, registry: string): CatalogEntry {
  const { containerDisk } = entry;
  if (containerDisk === '') return { ...entry, ...(cloudImages && { cloudImages }) };
  return { ...entry, containerDisk: `${registry}/${containerDisk.slice(containerDisk.indexOf('/') + 1)}` };
}
