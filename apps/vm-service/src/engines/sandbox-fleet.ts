import { parseKubernetesBytes } from '@headgate/domain-contracts';
import type * as kubeAdapter from '@headgate/kube-adapter';
import type { FleetSeedOptions } from '@headgate/kubevirt-sandbox';

type Conventions = Pick<typeof kubeAdapter, 'dataClaim' | 'TAG_PREFIX'>;

/**
 * Gives the simulated fleet the labels and annotations by which this service finds its containers and tags.
 * @param conventions of the adapter, which is loaded only when a cluster is served
 */
export const sandboxFleet = ({ dataClaim, TAG_PREFIX }: Conventions): FleetSeedOptions => ({
  vm: (seed) => {
    const { stage, critical } = seed.labels;
    const tags = [...(stage ? [stage] : []), ...(critical ? ['critical'] : [])];
    return {
      ...seed,
      labels: { ...seed.labels, ...Object.fromEntries(tags.map((tag) => [TAG_PREFIX + tag, 'true'])) },
    };
  },
  container: (seed) => {
    const { name, namespace, image, cpu, privileged } = seed;
    const { metadata } = dataClaim({
      ref: { kind: 'ct', context: '', namespace, name },
      image,
      cpu,
      memoryBytes: parseKubernetesBytes(seed.memory, 'memory'),
      diskBytes: parseKubernetesBytes(seed.disk, 'disk'),
      storageClass: '',
      privileged,
    });
    return {
      ...seed,
      labels: { ...metadata.labels },
      claim: { name: metadata.name, annotations: { ...metadata.annotations } },
    };
  },
});
