import { statfsSync } from 'node:fs';
import { DomainError, formatBytes } from '@headgate/domain-contracts';
import { RegistryDatabase } from '@headgate/registry-store';
import type { Settings } from '../config/load-config.js';
import { Readiness } from '../platform/readiness.js';
import type { SharedStore } from './shared-store.js';

/** Enough for the entries of all changes that may be in progress, and for the file that SQLite writes them to first. */
const MIN_FREE_BYTES = 16 * 1024 ** 2;

/** The service is ready when the registry is open, and the store of the cluster if it has one. */
export class RegistryReadiness extends Readiness {
  constructor(
    private readonly database: RegistryDatabase,
    private readonly shared: SharedStore | undefined,
    private readonly settings: Pick<Settings, 'dataDir'>,
  ) {
    super();
  }

  override get isReady(): boolean {
    return this.database.isOpen && this.shared?.isOpen !== false;
  }

  override get registryDisk() {
    const { bfree, bavail, bsize } = statfsSync(this.settings.dataDir);
    // Root may use the blocks that a file system reserves.
    return { freeBytes: (process.getuid?.() === 0 ? bfree : bavail) * bsize, requiredBytes: MIN_FREE_BYTES };
  }

  /** Asks the file system each time, which takes microseconds, so that changes are accepted again as soon as there is space. */
  override expectSpace(): void {
    const { dataDir } = this.settings;
    const { freeBytes, requiredBytes } = this.registryDisk;
    if (freeBytes >= requiredBytes) return;
    const free = `${formatBytes(freeBytes)} are free, and at least ${formatBytes(requiredBytes)} are required`;
    throw new DomainError(
      'REGISTRY_FULL',
      `The disk of the registry, which holds ${dataDir}, is full: ${free}. Changes are refused until then, because they could not be recorded.`,
    );
  }
}
