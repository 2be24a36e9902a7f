import { formatRef, parseKubernetesBytes, type FolderAssignment, type InstanceRef } from '@headgate/domain-contracts';
import type * as kubeAdapter from '@headgate/kube-adapter';
import type * as kubevirtSandbox from '@headgate/kubevirt-sandbox';

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
}

/**
 * Gives the simulated fleet the labels and annotations by which this service finds its containers and tags. A cluster
 * has no folders: they are collected for the store of this service.
 */
export function sandboxFleet({
  conventions: { dataClaim, TAG_PREFIX },
  seeds: { FOLDER_LABEL, seededUid },
  context,
  folders,
}: SandboxFleetDeps): kubevirtSandbox.FleetSeedOptions {
  const assign = (ref: InstanceRef, object: string, path: string): void =>
    void folders.push({ ref: formatRef(ref), uid: seededUid(object), path });
  return {
    incidents: true,
    vm: (seed) => {
      const { name, namespace, annotations } = seed;
      const { stage, tier, critical } = seed.labels;
      const tags = new Set([stage, tier, critical && 'critical'].flatMap((tag) => tag ?? []));
      const path = annotations[FOLDER_LABEL];
      if (path) assign({ kind: 'vm', context, namespace, name }, `VirtualMachine/${namespace}/${name}`, path);
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
      assign(ref, `PersistentVolumeClaim/${namespace}/${metadata.name}`, CONTAINER_FOLDER);
      return {
        ...seed,
        labels: { ...metadata.labels },
        claim: { name: metadata.name, annotations: { ...metadata.annotations } },
      };
    },
  };
}
