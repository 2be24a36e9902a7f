import type { DomainError } from '../values/domain-error.js';
import type { InstanceRef } from '../values/instance-ref.js';
import type { Json } from '../values/json.js';
import type { Instance } from '../model/instance.js';

/** Receives the changes of one backend's instances. */
export interface InventoryListener {
  /** The complete list, which replaces the known instances. Called first, and again after a loss or missed changes. */
  listed(instances: readonly Instance[]): void;
  /** One instance is new or changed. */
  changed(instance: Instance): void;
  removed(ref: InstanceRef): void;
  /** The backend can't be reached; the known instances are stale until `listed` is called again. */
  lost(error: DomainError): void;
}

export interface InventoryWatch {
  /** Stops the watch and closes everything that it opened. The listener is not called afterwards. */
  stop(): Promise<void>;
}

/** Lists a backend's instances once and then reports every change. */
export abstract class InstanceInventory {
  /** Never throws: an unreachable backend is reported through `lost`, and is retried automatically. */
  abstract watch(listener: InventoryListener): InventoryWatch;

  /**
   * The backend's own object.
   * @param options.masked hides secrets in it: user data, passwords, keys
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE
   */
  abstract manifest(ref: InstanceRef, options: { masked: boolean }): Promise<Json>;
}
