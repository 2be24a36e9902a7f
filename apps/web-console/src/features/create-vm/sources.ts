import { t } from '@lingui/core/macro';
import type { IconName } from '../../icons.js';
import type { ContextCapabilities } from '../../shared/queries/use-capabilities.js';
import { perLanguage } from '../../shared/texts/per-language.js';

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

export const sourceWording = perLanguage((): Readonly<Record<SourceKind, SourceWording>> => ({
  image: { title: t`Catalog`, hint: t`Prebuilt image`, icon: 'image', label: t`Image`, placeholder: '' },
  containerDisk: {
    title: t`Container disk`,
    hint: t`Image from a registry`,
    icon: 'container',
    label: t`Image reference`,
    placeholder: 'registry.example.org/disks/debian:12',
    fieldHint: t`On a cluster, changes to this disk are lost at power-off`,
  },
  import: {
    title: t`Import`,
    hint: t`qcow2 or raw image from a URL`,
    icon: 'download',
    label: t`Disk image URL`,
    placeholder: 'https://example.org/disk.qcow2',
  },
  iso: {
    title: t`Installer`,
    hint: t`Boot an ISO with an empty disk`,
    icon: 'disc',
    label: t`ISO URL`,
    placeholder: 'https://example.org/install.iso',
  },
  pvc: {
    title: t`Existing volume`,
    hint: t`Use a volume as is`,
    icon: 'machine',
    label: t`Volume name`,
    placeholder: 'web-1-root',
    fieldHint: t`Kept when the VM is deleted`,
  },
  bootc: {
    title: 'bootc',
    hint: t`Build a disk from a bootable container`,
    icon: 'build',
    label: t`Image reference`,
    placeholder: 'registry.example.org/fedora/fedora-bootc:43',
  },
}));

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
  return offered ?? t`Not available in ${context.context}.`;
}
