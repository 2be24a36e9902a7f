import type { KubeObject, ObjectStore } from '@headgate/kube-sandbox';

const RESTORES = 'virtualmachinerestores.snapshot.kubevirt.io';
const INSTANCES = 'virtualmachineinstances.kubevirt.io';

interface RestoreObject extends KubeObject {
  readonly spec: { readonly target: { readonly name: string } };
  readonly status?: { readonly complete?: boolean };
}

type InstanceObject = KubeObject & { readonly status?: { readonly phase?: string } };

/** Watches a simulated cluster for VMs that run while their disks are restored. */
export class RestoreObserver {
  readonly violations: string[] = [];
  private readonly stops: readonly (() => void)[];

  constructor(private readonly store: Pick<ObjectStore, 'list' | 'get' | 'subscribe'>) {
    this.stops = [RESTORES, INSTANCES].map((resource) => store.subscribe(resource, () => this.observe()));
  }

  close(): void {
    for (const stop of this.stops) stop();
  }

  private observe(): void {
    for (const { metadata, spec, status } of this.store.list<RestoreObject>(RESTORES, {})) {
      if (status?.complete === true || metadata.ownerReferences?.[0]?.kind === 'VirtualMachineClone') continue;
      const { namespace } = metadata;
      const { name } = spec.target;
      const instance = this.store.get<InstanceObject>(INSTANCES, { namespace, name });
      if (instance?.status?.phase === 'Running') this.violations.push(`${name} runs during ${metadata.name}`);
    }
  }
}
