import type { Patience, TaskKind } from '@headgate/domain-contracts';

/** Kinds of tasks whose work may have no journal. */
export type UnjournaledKind = Exclude<TaskKind, 'bulk'>;

const MINUTE_MS = 60_000;

const patience = (minutes: number, waitsFor: string, ifStalled: string): Patience => ({
  stallMs: minutes * MINUTE_MS,
  waitsFor,
  ifStalled,
});

/**
 * The patience with work that is no defined task, by the kind of its task. The steps of defined tasks have their own.
 */
export const PATIENCE: Readonly<Record<UnjournaledKind, Patience>> = {
  create: patience(60, 'the disk to be filled', 'The backend may still fill the disk: delete the VM, or wait for it.'),
  import: patience(
    60,
    'the image to be imported',
    'The backend may still import it: delete the image, or wait for it.',
  ),
  migrate: patience(60, 'the migration to end', 'The backend may still migrate the guest.'),
  snapshot: patience(60, 'the snapshot', 'The backend may still change the snapshot.'),
  restore: patience(60, 'the restore', 'The backend may still restore the disks.'),
  clone: patience(60, 'the clone', 'The backend may still complete the clone.'),
  disk: patience(60, 'the disk to be moved', 'The backend may still move the disk.'),
  move: patience(60, 'the move', 'A copy may be left at the destination.'),
  bootc: patience(60, 'the disk to be built', 'The build may still go on.'),
  drain: patience(60, 'the departure', 'The backend may still get the instance off its node.'),
  backup: patience(60, 'the backup', 'The target has no incomplete backup.'),
  'restore-backup': patience(60, 'the restore', 'Look for the VM before you restore it again.'),
  'instant-restore': patience(60, 'the restore', 'The VM waits for its backup, or is complete.'),
  'restore-disks': patience(60, 'the restore', 'Look at the disks of the VM before you restore them again.'),
  'prove-backup': patience(60, 'the backup to boot', 'The guest of the proof is removed.'),
  'check-backups': patience(60, 'the check of the target', 'Check it again.'),
  'prove-backups': patience(
    90,
    'the backups to boot',
    'The guest of the proof is removed at the next start of the service.',
  ),
  'clean-backups': patience(60, 'the target to be cleaned up', 'A later clean-up goes on.'),
  plugin: patience(60, 'the plugin', 'The plugin may still be installed.'),
};

/** Kinds whose work leaves everything as it was when it is canceled, although it has no journal. */
export const CANCELABLE_KINDS: ReadonlySet<TaskKind> = new Set(['migrate', 'disk']);
