import {
  InstanceInventory,
  type InstanceRef,
  type InventoryListener,
  type InventoryWatch,
  type Json,
} from '@headgate/domain-contracts';
import { LiveInstances, type LiveInstancesDeps } from './live-instances.js';
import { maskSecrets } from './mask-secrets.js';

/** All watches share one events socket and one list. */
export class IncusInventory extends InstanceInventory {
  private readonly live: LiveInstances;

  constructor(private readonly deps: LiveInstancesDeps) {
    super();
    this.live = new LiveInstances(deps);
  }

  override watch(listener: InventoryListener): InventoryWatch {
    const remove = this.live.add(listener);
    return { stop: remove };
  }

  /** The instance, as `incus query /1.0/instances/<name>` prints it. */
  override async manifest(ref: InstanceRef, { masked }: { masked: boolean }): Promise<Json> {
    const instance = await this.deps.finder.find(ref);
    return (masked ? maskSecrets(instance) : instance) as unknown as Json;
  }

  close(): Promise<void> {
    return this.live.close();
  }
}
