import type { DomainError } from '../values/domain-error.js';
import type { InstanceRef } from '../values/instance-ref.js';
import type { Json } from '../values/json.js';
import type { Instance } from '../model/instance.js';

/** Hears of every instance of one backend. Each call is about that backend alone. */
export interface InventoryListener {
  /** Everything there is: replaces what was known. Called first, and again whenever the backend came back or changes were missed. */
  listed(instances: readonly Instance[]): void;
  /** One instance is new or changed. */
  changed(instance: Instance): void;
  removed(ref: InstanceRef): void;
  /** The backend can't be reached; what was known is stale until `listed` is called again. */
  lost(error: DomainError): void;
}

export interface InventoryWatch {
  /** Ends the watch and everything that it opened. Nothing is told afterwards. */
  stop(): Promise<void>;
}

/** Lists a backend's instances once and then tells every change, without being asked. */
export abstract class InstanceInventory {
  /** Never throws: a backend that is away is told through `lost`, and is tried again by itself. */
  abstract watch(listener: InventoryListener): InventoryWatch;

  /**
   * The backend's own object.
   * @param options.masked hides secrets in it: user data, passwords, keys
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE
   */
  abstract manifest(ref: InstanceRef, options: { masked: boolean }): Promise<Json>;
}
