import {
  InstanceInventory,
  type InstanceRef,
  type InventoryListener,
  type InventoryWatch,
  type Json,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import type { KubeObject } from '../api/kube-object.js';
import { instanceNotFound } from '../api/kube-api-error.js';
import { CLAIMS, PODS, VIRTUAL_MACHINES } from '../api/resources.js';
import { containerSelector } from '../labels.js';
import { InventorySession, type InventoryDeps } from './inventory-session.js';
import { maskSecrets } from './mask-secrets.js';

/** The VMs and containers of a cluster, kept current by watches. */
export class KubeInventory extends InstanceInventory {
  private readonly sessions = new Set<InventorySession>();

  constructor(private readonly deps: InventoryDeps) {
    super();
  }

  override watch(listener: InventoryListener): InventoryWatch {
    const session = new InventorySession(this.deps, listener);
    this.sessions.add(session);
    return {
      stop: () => {
        this.sessions.delete(session);
        return session.stop();
      },
    };
  }

  /** The VirtualMachine of a VM. The pod of a container, or its data claim while the container is stopped. */
  override async manifest(ref: InstanceRef, { masked }: { masked: boolean }): Promise<Json> {
    const object = ref.kind === 'vm' ? await this.vm(ref) : await this.container(ref);
    const json = object as unknown as Json;
    return masked ? maskSecrets(json) : json;
  }

  /** The VM whose VirtualMachineInstance has this uid, as far as a watch has seen it. */
  vmOfGuest(uid: string): VirtualMachine | undefined {
    for (const session of this.sessions) {
      const vm = session.vmOfGuest(uid);
      if (vm) return vm;
    }
    return undefined;
  }

  async close(): Promise<void> {
    await Promise.all([...this.sessions].map((session) => session.stop()));
    this.sessions.clear();
  }

  private async vm(ref: InstanceRef): Promise<KubeObject> {
    const found = await this.deps.api.find(VIRTUAL_MACHINES, ref);
    if (!found) throw instanceNotFound(ref);
    return found;
  }

  private async container(ref: InstanceRef): Promise<KubeObject> {
    const selection = { namespace: ref.namespace, labelSelector: containerSelector(ref.name) };
    const [pod] = await this.deps.api.list(PODS, selection);
    const [object] = pod ? [pod] : await this.deps.api.list(CLAIMS, selection);
    if (!object) throw instanceNotFound(ref);
    return object;
  }
}
