import type { IconName } from '../../icons.js';
import type { ContextCapabilities } from '../../shared/queries/use-capabilities.js';

export const SOURCES = ['image', 'containerDisk', 'import', 'iso', 'pvc', 'bootc'] as const;
export type SourceKind = (typeof SOURCES)[number];

interface SourceWording {
  readonly title: string;
  readonly hint: string;
  readonly icon: IconName;
  /** The label of the field that the source needs; the catalog has a list instead. */
  readonly label: string;
  readonly placeholder: string;
  readonly fieldHint?: string;
}

export const SOURCE_WORDING: Readonly<Record<SourceKind, SourceWording>> = {
  image: { title: 'Catalog', hint: 'Prebuilt image', icon: 'image', label: 'Image', placeholder: '' },
  containerDisk: {
    title: 'Container disk',
    hint: 'Image from a registry',
    icon: 'container',
    label: 'Image reference',
    placeholder: 'registry.example.org/disks/debian:12',
    fieldHint: 'On a cluster, changes to this disk are lost at power-off',
  },
  import: {
    title: 'Import',
    hint: 'qcow2 or raw image from a URL',
    icon: 'download',
    label: 'Disk image URL',
    placeholder: 'https://example.org/disk.qcow2',
  },
  iso: {
    title: 'Installer',
    hint: 'Boot an ISO with an empty disk',
    icon: 'disc',
    label: 'ISO URL',
    placeholder: 'https://example.org/install.iso',
  },
  pvc: {
    title: 'Existing volume',
    hint: 'Use a volume as is',
    icon: 'machine',
    label: 'Volume name',
    placeholder: 'web-1-root',
    fieldHint: 'Kept when the VM is deleted',
  },
  bootc: {
    title: 'bootc',
    hint: 'Build a disk from a bootable container',
    icon: 'build',
    label: 'Image reference',
    placeholder: 'registry.example.org/fedora/fedora-bootc:43',
  },
};

/**
 * Why a source is unavailable in a context; undefined when it is available.
 * @param hasImportedImages whether images were imported into the namespace of the VM, which the catalog does not know
 */
export function sourceUnavailableReason(
  context: ContextCapabilities | undefined,
  source: SourceKind,
  hasImportedImages: boolean,
): string | undefined {
  const offered = context?.sources[source];
  if (!context || offered === true || (source === 'image' && hasImportedImages)) return undefined;
  return offered ?? `Not available in ${context.context}.`;
}
