import type { IconName } from '../../icons.js';
import type { ContextAbilities } from '../../shared/queries/use-capabilities.js';

export const SOURCES = ['image', 'containerDisk', 'import', 'iso', 'pvc', 'bootc'] as const;
export type SourceKind = (typeof SOURCES)[number];

interface SourceWording {
  readonly title: string;
  readonly hint: string;
  readonly icon: IconName;
  /** Of the one field that the source needs; the catalog has a list instead. */
  readonly label: string;
  readonly placeholder: string;
}

export const SOURCE_WORDING: Readonly<Record<SourceKind, SourceWording>> = {
  image: { title: 'Catalog', hint: 'A ready image', icon: 'image', label: 'Image', placeholder: '' },
  containerDisk: {
    title: 'Container disk',
    hint: 'From an image registry',
    icon: 'container',
    label: 'Image reference',
    placeholder: 'registry.example.org/disks/debian:12',
  },
  import: {
    title: 'Import',
    hint: 'qcow2 or raw from a URL',
    icon: 'download',
    label: 'Address of the disk image',
    placeholder: 'https://example.org/disk.qcow2',
  },
  iso: {
    title: 'Installer',
    hint: 'Boot an ISO, empty disk',
    icon: 'disc',
    label: 'Address of the ISO',
    placeholder: 'https://example.org/install.iso',
  },
  pvc: {
    title: 'Existing volume',
    hint: 'Use it as it is',
    icon: 'machine',
    label: 'Name of the volume',
    placeholder: 'web-1-root',
  },
  bootc: {
    title: 'bootc',
    hint: 'Build a disk from a bootable container',
    icon: 'build',
    label: 'Image reference',
    placeholder: 'registry.example.org/fedora/fedora-bootc:43',
  },
};

/** Why a context can't make an instance from a source; undefined when it can. */
export function sourceLack(context: ContextAbilities | undefined, source: SourceKind): string | undefined {
  const offered = context?.sources[source];
  if (!context || offered === true) return undefined;
  return offered ?? `${context.context} does not offer it.`;
}
