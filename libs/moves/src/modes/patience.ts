import type { Patience } from '@headgate/domain-contracts';

const MINUTE_MS = 60_000;
const LOOK = 'Look for the VM in both contexts before you use or move it again.';

/** Copies report each block, so that only an end that does not answer stalls them. */
const patience = (minutes: number, waitsFor: string): Patience => ({
  stallMs: minutes * MINUTE_MS,
  waitsFor,
  ifStalled: LOOK,
});

/** The patience with the steps of moves. */
export const PATIENCE = {
  reserve: patience(15, 'the destination to reserve the disks'),
  stop: patience(15, 'the guest to shut down'),
  copy: patience(30, 'the copy of the disks'),
  rounds: patience(30, 'the changes of the disks'),
  verify: patience(30, 'the comparison of both ends'),
  commit: patience(15, 'the destination to complete the VM'),
  folder: patience(15, 'the folder of the VM'),
  release: patience(30, 'the source to end its recording'),
  delete: patience(60, 'the deletion of the source'),
  migrate: patience(60, 'the migration of the guest'),
} as const satisfies Readonly<Record<string, Patience>>;
