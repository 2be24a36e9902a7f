import { DomainError, type BackupTarget, type BackupTargetStore } from '@headgate/domain-contracts';
import { pointOf, type BackupPoint } from './backup-point.js';
import type { BackupStore } from './backup-store.js';

/** @throws DomainError BACKUP_TARGET_NOT_FOUND */
export function findTarget(targets: BackupTargetStore, id: string): BackupTarget {
  const found = targets.all().find((target) => target.id === id);
  if (!found) throw new DomainError('BACKUP_TARGET_NOT_FOUND', `There is no backup target ${id.slice(0, 40)}.`);
  return found;
}

/** @throws DomainError BACKUP_POINT_NOT_FOUND, also for a snapshot of another program */
export async function findPoint(store: BackupStore, id: string): Promise<BackupPoint> {
  const snapshot = (await store.snapshots()).find((one) => one.id === id);
  const point = snapshot && pointOf(snapshot);
  if (!point) throw new DomainError('BACKUP_POINT_NOT_FOUND', `The target has no backup ${id.slice(0, 64)} of a VM.`);
  return point;
}
