import { DomainError, type BackupTargetStore } from '@headgate/domain-contracts';
import { pointsOf } from './backup-point.js';
import type { BackupStore, BackupStores } from './backup-store.js';
import { findTarget } from './find-target.js';

/** Whether backups can be stored in a target now, and how full it is. */
export interface StateOfTarget {
  readonly state: 'ready' | 'locked' | 'unusable';
  /** Why it is not ready. */
  readonly reason?: string;
  readonly points?: number;
  /** ISO 8601. */
  readonly lastBackup?: string;
  readonly usedBytes?: number;
  readonly freeBytes?: number;
}

/** Looks at a target, without a lock. */
export class TargetState {
  constructor(private readonly deps: { readonly targets: BackupTargetStore; readonly stores: BackupStores }) {}

  /** @throws DomainError BACKUP_TARGET_NOT_FOUND */
  async run(id: string): Promise<StateOfTarget> {
    const target = findTarget(this.deps.targets, id);
    try {
      const store = await this.deps.stores.open(target);
      const [newest, ...others] = pointsOf(await store.snapshots());
      const points = newest ? 1 + others.length : 0;
      const space = await store.space();
      return { ...(await lockOf(store)), points, ...(newest && { lastBackup: newest.time }), ...space };
    } catch (error) {
      if (!DomainError.is(error)) throw error;
      return { state: 'unusable', reason: error.message };
    }
  }
}

async function lockOf(store: BackupStore): Promise<Pick<StateOfTarget, 'state' | 'reason'>> {
  try {
    await store.expectWritable();
    return { state: 'ready' };
  } catch (error) {
    if (DomainError.is(error, 'BUSY')) return { state: 'locked', reason: error.message };
    throw error;
  }
}
