import type { Patience } from '@headgate/domain-contracts';

const MINUTE_MS = 60_000;
const LOOK = 'Look for the VM in both contexts before you use or move it again.';
const LOOK_FOR_CONTAINER = 'Look for the container in both contexts before you use or move it again.';

/** Copies report each block, so that only an end that does not answer stalls them. */
const patience = (minutes: number, waitsFor: string, ifStalled = LOOK): Patience => ({
  stallMs: minutes * MINUTE_MS,
  waitsFor,
  ifStalled,
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

const ofContainer = (minutes: number, waitsFor: string): Patience => patience(minutes, waitsFor, LOOK_FOR_CONTAINER);

/** The same for containers. A server reports nothing while it packs or unpacks an archive. */
export const CONTAINER_PATIENCE = {
  stop: ofContainer(15, 'the container to stop'),
  copy: ofContainer(120, 'the copy of the file systems'),
  verify: ofContainer(120, 'the comparison of both ends'),
  commit: ofContainer(15, 'the destination to complete the container'),
  folder: ofContainer(15, 'the folder of the container'),
  start: ofContainer(15, 'the copy to start'),
  delete: ofContainer(120, 'the last comparison and the deletion of the source'),
} as const satisfies Readonly<Record<string, Patience>>;
