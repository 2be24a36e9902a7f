import { RegistryDatabase } from '@headgate/registry-store';
import { Readiness } from '../platform/readiness.js';
import type { SharedStore } from './shared-store.js';

/** The service is ready when the registry is open, and the store of the cluster if it has one. */
export class RegistryReadiness extends Readiness {
  constructor(
    private readonly database: RegistryDatabase,
    private readonly shared: SharedStore | undefined,
  ) {
    super();
  }

  override get isReady(): boolean {
    return this.database.isOpen && this.shared?.isOpen !== false;
  }

  override get registryDisk() {
    return this.database.reserve.disk;
  }

  override expectSpace(): void {
    this.database.reserve.expectSpace();
  }
}
