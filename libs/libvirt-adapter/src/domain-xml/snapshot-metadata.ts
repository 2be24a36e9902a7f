import { attribute, element, elements, type XmlElement } from '../xml/xml.js';

/** A volume of a disk, by the target of the disk in the domain: `vda`. */
export interface DiskVolume {
  readonly target: string;
  /** Name of the volume in the service's pool. */
  readonly name: string;
}

/** A new volume of a disk. */
export interface ReplacedVolume extends DiskVolume {
  /** Name of the volume that the disk used before. */
  readonly replaced: string;
}

/** A snapshot, as the metadata of its domain lists it. */
export interface SnapshotRecord {
  readonly name: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** It is being deleted, or its deletion was interrupted. */
  readonly isDeleting: boolean;
  /** The volumes with the content of the disks. Nothing writes to them. */
  readonly disks: readonly DiskVolume[];
  /** Volumes with a copy of the firmware's variables and of the TPM's state. */
  readonly nvram?: string;
  readonly tpm?: string;
  /** The file with the memory of the guest, which ran. */
  readonly memory?: string;
}

export const PENDING_KINDS = [
  'snapshot',
  'restore',
  'clone',
  'merge',
  'migration',
  'move',
  'disk-restore',
  'backup-restore',
] as const;

/**
 * `snapshot`, `restore` and `clone` replace the files of the disks with new overlays, and `merge` writes a layer into
 * the one below. `migration` copies the domain to another host, and `move` a disk to another pool. `disk-restore` fills
 * new volumes for disks, and `backup-restore` those of a VM that may run meanwhile; both are left to their tasks. A
 * change is recorded before it begins, so that an interrupted one can be completed or undone.
 */
export interface PendingChange {
  readonly kind: (typeof PENDING_KINDS)[number];
  /** Identity of the service that began it. */
  readonly service: string;
  /** The snapshot that is created or restored. */
  readonly snapshot: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Whether the domain has to be started at the end. */
  readonly wasRunning: boolean;
  /** The new overlays; of a merge, the lower layer, which replaces the upper one. */
  readonly disks: readonly ReplacedVolume[];
  /** Copies of the firmware's variables and of the TPM's state that belong to the change. */
  readonly nvram?: string;
  readonly tpm?: string;
  /** The file with the memory of the guest that belongs to the change. */
  readonly memory?: string;
  /** The ID of its task. */
  readonly operation?: string;
  /** The context that receives the domain, or the pool that receives the disk. */
  readonly target?: string;
  /** Whether a migration is known to have failed: the guest runs here, and only leftovers on the other host remain. */
  readonly isCanceled?: boolean;
}

/** The children may or may not have the prefix of their parent. */
const childName = (parent: XmlElement, name: string): string =>
  Object.keys(parent).find((key) => key === name || key.endsWith(`:${name}`)) ?? name;

const readDisks = (parent: XmlElement): DiskVolume[] =>
  elements(parent, childName(parent, 'disk')).map((disk) => ({
    target: attribute(disk, 'target') ?? '',
    name: attribute(disk, 'name') ?? '',
  }));

const readReplacements = (parent: XmlElement): ReplacedVolume[] =>
  elements(parent, childName(parent, 'disk')).map((disk) => ({
    target: attribute(disk, 'target') ?? '',
    name: attribute(disk, 'name') ?? '',
    replaced: attribute(disk, 'replaced') ?? '',
  }));

const optional = (parent: XmlElement, ...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = attribute(parent, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );

export const readSnapshots = (instance: XmlElement, name: string): SnapshotRecord[] =>
  elements(instance, name).map((snapshot) => ({
    name: attribute(snapshot, 'name') ?? '',
    createdAt: attribute(snapshot, 'created') ?? '',
    isDeleting: attribute(snapshot, 'deleting') === 'yes',
    disks: readDisks(snapshot),
    ...optional(snapshot, 'nvram', 'tpm', 'memory'),
  }));

export function readPending(instance: XmlElement, name: string): { pending?: PendingChange } {
  const found = element(instance, name);
  const kind = PENDING_KINDS.find((one) => one === attribute(found, 'kind'));
  if (!found || !kind) return {};
  const pending = {
    kind,
    service: attribute(found, 'service') ?? '',
    snapshot: attribute(found, 'snapshot') ?? '',
    startedAt: attribute(found, 'started') ?? '',
    wasRunning: attribute(found, 'running') === 'yes',
    disks: readReplacements(found),
    ...optional(found, 'nvram', 'tpm', 'memory', 'target', 'operation'),
    ...(attribute(found, 'canceled') === 'yes' && { isCanceled: true }),
  } as const;
  return { pending };
}

const diskElements = (disks: readonly DiskVolume[]): XmlElement[] =>
  disks.map(({ target, name }) => ({ '@target': target, '@name': name }));

const attributes = (values: Readonly<Record<string, string | undefined>>): XmlElement =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[`@${name}`, value]])),
  );

export const snapshotElement = ({
  name,
  createdAt,
  isDeleting,
  disks,
  nvram,
  tpm,
  memory,
}: SnapshotRecord): XmlElement => ({
  ...attributes({ name, created: createdAt, deleting: isDeleting ? 'yes' : undefined, nvram, tpm, memory }),
  disk: diskElements(disks),
});

export const pendingElement = (pending: PendingChange): XmlElement => {
  const { kind, service, snapshot, startedAt, wasRunning, disks, nvram, tpm, memory, target, operation, isCanceled } =
    pending;
  const [running, canceled] = [wasRunning, isCanceled].map((flag) => (flag === true ? 'yes' : undefined));
  return {
    ...attributes({
      kind,
      service,
      snapshot,
      started: startedAt,
      running,
      nvram,
      tpm,
      memory,
      target,
      operation,
      canceled,
    }),
    disk: disks.map(({ target, name, replaced }) => ({ '@target': target, '@name': name, '@replaced': replaced })),
  };
};
