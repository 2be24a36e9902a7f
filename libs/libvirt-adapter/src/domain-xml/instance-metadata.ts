import { backupElement, readBackup, type BackupRecord } from './backup-metadata.js';
import {
  pendingElement,
  readPending,
  readSnapshots,
  snapshotElement,
  type PendingChange,
  type SnapshotRecord,
} from './snapshot-metadata.js';
import { attribute, element, elements, formatXml, text, type XmlElement } from '../xml/xml.js';

/** The XML namespace of the service's metadata in a domain. */
export const INSTANCE_XMLNS = 'https://headgate.dev/xmlns/instance/1';
export const INSTANCE_PREFIX = 'headgate';

/**
 * `layer` is the frozen content of a disk below its overlay, `state` the saved state of the firmware or the TPM,
 * `backup` a copy that is exported.
 */
export type VolumeRole =
  'disk' | 'data' | 'seed' | 'cdrom' | 'serial-log' | 'overlay' | 'nvram' | 'layer' | 'state' | 'backup';

/** A volume that the service created for one domain. */
export interface OwnedVolume {
  readonly pool: string;
  readonly name: string;
  readonly role: VolumeRole;
  /** The requested size, shown until the volume exists. */
  readonly bytes?: number;
  /**
   * Identity of the service that is adding or deleting it: the volume is removed unless a disk of the domain uses it.
   * The ID of a restore that fills it, which its task completes or removes.
   */
  readonly pending?: string;
}

export interface InstanceMetadata {
  /**
   * UUID of the domain that this was written for. A different UUID means that the domain is a copy, which owns nothing.
   */
  readonly owner: string;
  /** ISO 8601. */
  readonly createdAt?: string;
  /** The short ID of libosinfo for the operating system of the guest. */
  readonly os?: string;
  readonly tags: readonly string[];
  readonly isTemplate: boolean;
  readonly isProtected: boolean;
  /** Identity of the service that is still filling the disk. */
  readonly provisioning?: string;
  /** Identity of the service that has stopped the domain to start it again. */
  readonly restarting?: string;
  /** The reason why the disk could not be filled. */
  readonly failure?: string;
  readonly volumes: readonly OwnedVolume[];
  /** The oldest first. */
  readonly snapshots: readonly SnapshotRecord[];
  /** A change of the disks that is in progress, or was interrupted. */
  readonly pending?: PendingChange;
  /** The ID of the task of the last operation on it that was completed, by which a restart finds the outcome. */
  readonly lastOperation?: string;
  /** An export of the running domain that has not ended, or was interrupted. */
  readonly backup?: BackupRecord;
}

export const NO_METADATA: InstanceMetadata = {
  owner: '',
  tags: [],
  isTemplate: false,
  isProtected: false,
  volumes: [],
  snapshots: [],
};

/** Reads the service's metadata from a parsed `<domain>`. */
export function readMetadata(domain: XmlElement): InstanceMetadata {
  const found = findInstance(element(domain, 'metadata'));
  if (!found) return NO_METADATA;
  const { root, children } = found;
  return {
    owner: attribute(root, 'owner') ?? '',
    createdAt: attribute(root, 'created'),
    ...optional('os', attribute(root, 'os')),
    tags: elements(root, children('tag'))
      .map((tag) => text(tag) ?? '')
      .filter((tag) => tag !== '')
      .sort(),
    isTemplate: attribute(root, 'template') === 'yes',
    isProtected: attribute(root, 'protected') === 'yes',
    provisioning: attribute(root, 'provisioning'),
    ...optional('restarting', attribute(root, 'restarting')),
    failure: attribute(root, 'failure'),
    volumes: elements(root, children('volume')).map((volume) => ({
      pool: attribute(volume, 'pool') ?? '',
      name: attribute(volume, 'name') ?? '',
      role: (attribute(volume, 'role') ?? 'disk') as VolumeRole,
      ...sizeOf(volume),
      ...optional('pending', attribute(volume, 'pending')),
    })),
    snapshots: readSnapshots(root, children('snapshot')),
    ...optional('lastOperation', attribute(root, 'operation')),
    ...readPending(root, children('pending')),
    ...readBackup(root, children('backup')),
  };
}

/** The element without a prefix: `virsh metadata --set` adds the prefix. */
export const formatMetadata = (metadata: InstanceMetadata): string =>
  formatXml({ instance: metadataElement(metadata) });

export const metadataElement = ({
  owner,
  createdAt,
  os,
  tags,
  isTemplate,
  isProtected,
  provisioning,
  restarting,
  failure,
  volumes,
  snapshots,
  pending,
  lastOperation,
  backup,
}: InstanceMetadata): XmlElement => ({
  '@owner': owner,
  ...(createdAt !== undefined && { '@created': createdAt }),
  ...(os !== undefined && { '@os': os }),
  ...(isTemplate && { '@template': 'yes' }),
  ...(isProtected && { '@protected': 'yes' }),
  ...(provisioning !== undefined && { '@provisioning': provisioning }),
  ...(restarting !== undefined && { '@restarting': restarting }),
  ...(failure !== undefined && { '@failure': failure }),
  ...(lastOperation !== undefined && { '@operation': lastOperation }),
  tag: [...tags],
  volume: volumes.map(({ pool, name, role, bytes, pending }) => ({
    '@pool': pool,
    '@name': name,
    '@role': role,
    ...(bytes !== undefined && { '@bytes': String(bytes) }),
    ...(pending !== undefined && { '@pending': pending }),
  })),
  ...(snapshots.length > 0 && { snapshot: snapshots.map(snapshotElement) }),
  ...(pending !== undefined && { pending: pendingElement(pending) }),
  ...(backup !== undefined && { backup: backupElement(backup) }),
});

const optional = <K extends string>(name: K, value: string | undefined): { readonly [_ in K]?: string } =>
  value === undefined ? {} : ({ [name]: value } as { readonly [_ in K]?: string });

function sizeOf(volume: XmlElement): { bytes?: number } {
  const bytes = Number(attribute(volume, 'bytes'));
  return Number.isSafeInteger(bytes) ? { bytes } : {};
}

/** Finds the element by its namespace, because the prefix is up to the writer. */
function findInstance(metadata: XmlElement | undefined) {
  for (const name of Object.keys(metadata ?? {})) {
    const [prefix, local] = name.includes(':') ? (name.split(':') as [string, string]) : ['', name];
    if (local !== 'instance') continue;
    const root = element(metadata, name);
    if (attribute(root, prefix === '' ? 'xmlns' : `xmlns:${prefix}`) !== INSTANCE_XMLNS) continue;
    // The children may or may not have the prefix.
    const children = (child: string): string => (root && `${prefix}:${child}` in root ? `${prefix}:${child}` : child);
    return { root: root as XmlElement, children };
  }
  return undefined;
}
