import { formatRef, parseKubernetesBytes, type FolderAssignment, type InstanceRef } from '@headgate/domain-contracts';
import type * as kubeAdapter from '@headgate/kube-adapter';
import type * as kubevirtSandbox from '@headgate/kubevirt-sandbox';
import type { SandboxGuest } from './sandbox-usage.js';

type Conventions = Pick<typeof kubeAdapter, 'dataClaim' | 'TAG_PREFIX'>;
type Seeds = Pick<typeof kubevirtSandbox, 'FOLDER_LABEL' | 'seededUid'>;

/** The folder of the simulated containers. */
const CONTAINER_FOLDER = 'dev/containers';

export interface SandboxFleetDeps {
  /** Of the adapter, which is loaded only when a cluster is served. */
  readonly conventions: Conventions;
  /** Of the simulation. */
  readonly seeds: Seeds;
  readonly context: string;
  /** Receives the folder of each instance. */
  readonly folders: FolderAssignment[];
  /** Receives the guests that run or ran, by the ID of their object. */
  readonly guests: Map<string, SandboxGuest>;
}

/** The fields of both kinds of seeds on which the usage depends. */
interface GuestSeed {
  readonly ref: InstanceRef;
  readonly cpu?: number;
  readonly memory?: string;
  readonly createdAt?: Date;
  readonly startedAt?: Date;
  readonly isRunning: boolean;
}

/** Whether a seeded VM ever ran: the others have no disk or no node, or an incident that keeps them from starting. */
const hasRun = ({ status = 'Running', templateAnnotations }: kubevirtSandbox.VmSeed): boolean =>
  ['Running', 'Paused', 'Stopped'].includes(status) && !templateAnnotations;

/**
 * Gives the simulated fleet the labels and annotations by which this service finds its containers and tags. A cluster
 * has no folders: they are collected for the store of this service.
 */
export function sandboxFleet({
  conventions: { dataClaim, TAG_PREFIX },
  seeds: { FOLDER_LABEL, seededUid },
  context,
  folders,
  guests,
}: SandboxFleetDeps): kubevirtSandbox.FleetSeedOptions {
  const assign = (ref: InstanceRef, uid: string, path: string): void =>
    void folders.push({ ref: formatRef(ref), uid, path });
  const remember = (
    uid: string,
    { ref, cpu = 2, memory = '4Gi', createdAt, startedAt, isRunning }: GuestSeed,
  ): void => {
    const created = createdAt?.getTime() ?? 0;
    const memoryBytes = parseKubernetesBytes(memory, 'memory');
    const times = { createdAt: created, startedAt: startedAt?.getTime() ?? created };
    guests.set(uid, { ref, cpu, memoryBytes, ...times, isRunning });
  };
  return {
    incidents: true,
    vm: (seed) => {
      const { name, namespace, annotations } = seed;
      const { stage, tier, critical } = seed.labels;
      const tags = new Set([stage, tier, critical && 'critical'].flatMap((tag) => tag ?? []));
      const path = annotations[FOLDER_LABEL];
      const ref = { kind: 'vm', context, namespace, name } as const;
      const uid = seededUid(`VirtualMachine/${namespace}/${name}`);
      if (path) assign(ref, uid, path);
      if (hasRun(seed)) remember(uid, { ref, ...seed, isRunning: seed.status !== 'Stopped' });
      return {
        ...seed,
        labels: { ...seed.labels, ...Object.fromEntries([...tags].map((tag) => [TAG_PREFIX + tag, 'true'])) },
      };
    },
    container: (seed) => {
      const { name, namespace, image, cpu, privileged } = seed;
      const ref = { kind: 'ct', context, namespace, name } as const;
      const { metadata } = dataClaim({
        ref,
        image,
        cpu,
        memoryBytes: parseKubernetesBytes(seed.memory, 'memory'),
        diskBytes: parseKubernetesBytes(seed.disk, 'disk'),
        storageClass: '',
        privileged,
      });
      const uid = seededUid(`PersistentVolumeClaim/${namespace}/${metadata.name}`);
      assign(ref, uid, CONTAINER_FOLDER);
      remember(uid, { ref, ...seed, isRunning: seed.running });
      return {
        ...seed,
        labels: { ...metadata.labels },
        claim: { name: metadata.name, annotations: { ...metadata.annotations } },
      };
    },
  };
}
