import { DomainError, ImageCatalog, type CatalogEntry } from '@headgate/domain-contracts';

/** The image that Headgate builds on this machine, so that a VM can boot without a download. */
const TINY: CatalogEntry = {
  name: 'tiny',
  description: 'A tiny Linux, built on this machine: serial and graphical console, DHCP, guest agent, cloud-init.',
  containerDisk: '',
  defaultUser: 'headgate',
  builtLocally: 'tiny',
};

/** Container disks that the KubeVirt project maintains, as repository and tag. The operator chooses the registry. */
const WELL_KNOWN: readonly (Omit<CatalogEntry, 'containerDisk'> & { readonly repository: string })[] = [
  {
    name: 'debian-12',
    description: 'Debian 12 (bookworm)',
    repository: 'containerdisks/debian:12',
    defaultUser: 'debian',
  },
  {
    name: 'ubuntu-24.04',
    description: 'Ubuntu 24.04 LTS',
    repository: 'containerdisks/ubuntu:24.04',
    defaultUser: 'ubuntu',
  },
  { name: 'fedora', description: 'Fedora', repository: 'containerdisks/fedora:latest', defaultUser: 'fedora' },
  {
    name: 'centos-stream-9',
    description: 'CentOS Stream 9',
    repository: 'containerdisks/centos-stream:9',
    defaultUser: 'cloud-user',
  },
  {
    name: 'opensuse-leap',
    description: 'openSUSE Leap',
    repository: 'containerdisks/opensuse-leap:15.6',
    defaultUser: 'opensuse',
  },
];

export interface CatalogOptions {
  /** Whether to offer the image that is built on this machine. */
  readonly tiny: boolean;
  /** Host and optional port of a registry with the KubeVirt project's container disks; without it they are not offered. */
  readonly registry?: string;
  /** The operator's own entries. They replace built-in ones of the same name. */
  readonly images: readonly CatalogEntry[];
}

/** The built-in images, followed by those of the configuration. */
export class ConfiguredCatalog extends ImageCatalog {
  private readonly byName: ReadonlyMap<string, CatalogEntry>;

  constructor({ tiny, registry, images }: CatalogOptions) {
    super();
    const builtIn = tiny ? [TINY] : [];
    const known =
      registry === undefined
        ? []
        : WELL_KNOWN.map(({ repository, ...entry }) => ({ ...entry, containerDisk: `${registry}/${repository}` }));
    this.byName = new Map([...builtIn, ...known, ...images].map((entry) => [entry.name, entry]));
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
