import { guestFiles, type GuestFiles } from '../guests/guest-files.js';
import { guestProfileFor } from '../guests/guest-profile.js';
import type { GuestFacts } from '../guests/guest-facts.js';
import { quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { Container, PersistentVolumeClaim, Pod } from '../types/core-kinds.js';
import type { SimulationContext } from '../simulation-context.js';

/** The facts that the shell of a container knows about its pod. */
export function containerFacts({ metadata, status }: Pod, container: Container): GuestFacts {
  const { limits, requests } = container.resources ?? {};
  return {
    name: metadata.name,
    hostname: metadata.name,
    profile: guestProfileFor([container.image]),
    cpus: Math.max(1, Math.ceil(quantityValue(limits?.cpu ?? requests?.cpu ?? '1'))),
    memoryBytes: quantityValue(limits?.memory ?? requests?.memory ?? '1Gi'),
    interfaces: [{ name: 'eth0', address: status?.podIP ?? '127.0.0.1', mac: '02:00:00:00:00:01' }],
    disks: [],
    bootedAt: Date.parse(status?.startTime ?? '1970-01-01T00:00:00Z'),
  };
}

/** The files of containers. With a claim they live as long as the claim, otherwise as long as the pod. */
export class ContainerFiles {
  private readonly files = new Map<string, GuestFiles>();

  constructor(private readonly context: SimulationContext) {}

  of(pod: Pod, container: Container): GuestFiles {
    const owner = this.ownerOf(pod);
    const known = this.files.get(owner);
    if (known) return known;
    const files = guestFiles(containerFacts(pod, container), 'user');
    for (const { mountPath } of container.volumeMounts ?? []) {
      files.set(`${mountPath.replace(/\/$/, '')}/.volume`, `simulated volume\n`);
    }
    this.files.set(owner, files);
    return files;
  }

  /** Discards the files of deleted pods and claims. */
  watch(): void {
    for (const resource of [RESOURCES.pod, RESOURCES.claim]) {
      this.context.store.subscribe(
        resource,
        ({ type, object }) => {
          if (type === 'DELETED') this.files.delete(object.metadata.uid!);
        },
        { atRest: 'never' },
      );
    }
  }

  private ownerOf({ metadata, spec }: Pod): string {
    const name = spec.volumes?.find(({ persistentVolumeClaim }) => persistentVolumeClaim)?.persistentVolumeClaim
      ?.claimName;
    const claim = name && this.context.find<PersistentVolumeClaim>(RESOURCES.claim, metadata.namespace, name);
    return claim ? claim.metadata.uid! : metadata.uid!;
  }
}
