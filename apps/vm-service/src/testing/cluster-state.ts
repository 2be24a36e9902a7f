import type { KubeObject, ObjectStore } from '@headgate/kube-sandbox';

/** The fields of an entry of the list of VMs that a test compares. */
export interface ListEntry {
  readonly ref: string;
  readonly context: string;
  readonly namespace: string;
  readonly name: string;
  readonly status: string;
  readonly tags: readonly string[];
  readonly isTemplate: boolean;
  readonly cpu: number;
  readonly busy?: { readonly task: string };
  readonly reason?: string;
}

export const entryOf = (list: readonly ListEntry[], context: string, name: string): ListEntry | undefined =>
  list.find((entry) => entry.context === context && entry.name === name);

const VMS = 'virtualmachines.kubevirt.io';
/** All kinds whose objects may belong to a VM. */
const KINDS = [
  VMS,
  'virtualmachineinstances.kubevirt.io',
  'virtualmachineinstancemigrations.kubevirt.io',
  'virtualmachinesnapshots.snapshot.kubevirt.io',
  'virtualmachinesnapshotcontents.snapshot.kubevirt.io',
  'virtualmachinerestores.snapshot.kubevirt.io',
  'virtualmachineclones.clone.kubevirt.io',
  'virtualmachineexports.export.kubevirt.io',
  'datavolumes.cdi.kubevirt.io',
  'volumesnapshots.snapshot.storage.k8s.io',
  'persistentvolumeclaims',
  'pods',
  'secrets',
  'services',
  'controllerrevisions.apps',
];
const TAG_PREFIX = 'svc.dev/tag.';
/** Statuses that end without a request. */
const TRANSIENT = ['Starting', 'Stopping', 'Terminating', 'Provisioning', 'WaitingForVolumeBinding', 'Migrating'];

interface MigrationObject extends KubeObject {
  readonly status?: { readonly phase?: string };
}

/** A VirtualMachine, as far as tests read it. */
export interface MachineObject extends KubeObject {
  readonly spec: {
    readonly runStrategy?: string;
    readonly template: { readonly spec: { readonly domain: { readonly cpu?: { readonly sockets?: number } } } };
  };
  readonly status?: {
    readonly printableStatus?: string;
    readonly stateChangeRequests?: readonly unknown[];
    readonly snapshotInProgress?: string;
    readonly restoreInProgress?: string;
  };
}

/** Which of the names an object contains. The objects in a store are never changed, so that each is read once. */
const namedBy = new WeakMap<readonly string[], WeakMap<KubeObject, readonly string[]>>();

/** The objects in a simulated cluster that name each of the VMs. */
export function objectsByName(
  store: Pick<ObjectStore, 'list'>,
  names: readonly string[],
): ReadonlyMap<string, readonly KubeObject[]> {
  const found = new Map<string, KubeObject[]>(names.map((name) => [name, []]));
  const known = namedBy.get(names) ?? new WeakMap<KubeObject, readonly string[]>();
  namedBy.set(names, known);
  for (const object of KINDS.flatMap((resource) => store.list<KubeObject>(resource, {}))) {
    let named = known.get(object);
    if (!named) {
      const text = JSON.stringify(object);
      known.set(object, (named = names.filter((name) => text.includes(name))));
    }
    for (const name of named) found.get(name)?.push(object);
  }
  return found;
}

/**
 * The objects in a simulated cluster that name a VM.
 * @param objects those of the VM, if they are known
 */
export function clusterState(
  store: Pick<ObjectStore, 'list'>,
  name: string,
  context: string,
  objects = objectsByName(store, [name]).get(name) ?? [],
) {
  const machines = objects.filter(({ kind }) => kind === 'VirtualMachine') as unknown as MachineObject[];

  /** Why the VMs are not at rest, or the list differs from the cluster. */
  const differences = (list: readonly ListEntry[]): string[] => {
    const found: string[] = [];
    const entries = list.filter((entry) => entry.name.includes(name));
    for (const { kind, metadata, status } of objects as readonly MigrationObject[])
      if (kind === 'VirtualMachineInstanceMigration' && !['Succeeded', 'Failed'].includes(status?.phase ?? ''))
        found.push(`${context}/${metadata.name} goes on`);
    for (const entry of entries)
      if (!machines.some(({ metadata }) => metadata.name === entry.name))
        found.push(`${context}/${entry.name} is listed, but it does not exist`);
    for (const { metadata, spec, status } of machines) {
      const entry = entryOf(entries, context, metadata.name);
      const text = `${context}/${metadata.name}`;
      if (!entry) {
        found.push(`${text} exists, but it is not listed`);
        continue;
      }
      const printed = metadata.deletionTimestamp ? 'Terminating' : (status?.printableStatus ?? 'Stopped');
      if (TRANSIENT.includes(printed)) found.push(`${text} is ${printed}`);
      // Between the two halves of a restart.
      if (status?.stateChangeRequests?.length || (printed === 'Stopped' && spec.runStrategy === 'Always'))
        found.push(`${text} will start`);
      if (status?.snapshotInProgress ?? status?.restoreInProgress) found.push(`${text} is locked`);
      const tags = Object.keys(metadata.labels ?? {})
        .filter((label) => label.startsWith(TAG_PREFIX))
        .map((label) => label.slice(TAG_PREFIX.length))
        .sort();
      const engine = {
        status: printed,
        tags,
        isTemplate: metadata.labels?.['svc.dev/template'] === 'true',
        isBusy: false,
      };
      const seen = {
        status: entry.status,
        tags: [...entry.tags].sort(),
        isTemplate: entry.isTemplate,
        isBusy: entry.busy !== undefined,
      };
      if (JSON.stringify(engine) !== JSON.stringify(seen))
        found.push(`${text}: ${JSON.stringify(engine)} in the cluster, ${JSON.stringify(seen)} in the list`);
      const sockets = spec.template.spec.domain.cpu?.sockets;
      if (printed === 'Stopped' && sockets !== undefined && sockets !== entry.cpu)
        found.push(`${text} has ${sockets} CPUs in the cluster, ${entry.cpu} in the list`);
    }
    return found;
  };
  return { objects, machines, differences };
}
