import {
  InstanceInventory,
  type InstanceRef,
  type InventoryListener,
  type InventoryWatch,
  type Json,
} from '@headgate/domain-contracts';
import type { KubeObject } from '../api/kube-object.js';
import { PODS, CLAIMS, VIRTUAL_MACHINES } from '../api/resources.js';
import { containerSelector } from '../labels.js';
import { instanceNotFound } from '../instance-not-found.js';
import { InventorySession, type InventorySurroundings } from './inventory-session.js';
import { maskSecrets } from './mask-secrets.js';

/** The VMs and containers of a cluster, followed through watches. */
export class KubeInventory extends InstanceInventory {
  private readonly sessions = new Set<InventorySession>();

  constructor(private readonly around: InventorySurroundings) {
    super();
  }

  override watch(listener: InventoryListener): InventoryWatch {
    const session = new InventorySession(this.around, listener);
    this.sessions.add(session);
    return {
      stop: () => {
        this.sessions.delete(session);
        return session.stop();
      },
    };
  }

  /** The VM; of a container its pod, or its data claim while it is stopped. */
  override async manifest(ref: InstanceRef, { masked }: { masked: boolean }): Promise<Json> {
    const object = ref.kind === 'vm' ? await this.vm(ref) : await this.container(ref);
    const json = object as unknown as Json;
    return masked ? maskSecrets(json) : json;
  }

  async close(): Promise<void> {
    await Promise.all([...this.sessions].map((session) => session.stop()));
    this.sessions.clear();
  }

  private async vm(ref: InstanceRef): Promise<KubeObject> {
    const found = await this.around.api.find(VIRTUAL_MACHINES, ref);
    if (!found) throw instanceNotFound(ref);
    return found;
  }

  private async container(ref: InstanceRef): Promise<KubeObject> {
    const settings = { namespace: ref.namespace, labelSelector: containerSelector(ref.name) };
    const [pod] = await this.around.api.list(PODS, settings);
    const [claim] = pod ? [pod] : await this.around.api.list(CLAIMS, settings);
    if (!claim) throw instanceNotFound(ref);
    return claim;
  }
}
