/**
 * How an operation uses an instance or an image.
 * - `present`: it must stay, but may change, such as a running VM whose disk is exported since a checkpoint.
 * - `unchanged`: nothing about it may change, such as the source of a clone.
 * - `change`: it is changed while it stays itself.
 * - `power`: it is changed in a way that needs nothing of the content of its disks, such as by a start.
 * - `guest`: only something inside of its guest is changed.
 * - `content`: its disks are being filled while it may run.
 * - `exclusive`: nothing else may happen to it, or its name is taken.
 * - `removal`: it ends, which also ends what fills its disks.
 */
export type UseMode = 'present' | 'unchanged' | 'change' | 'power' | 'guest' | 'content' | 'exclusive' | 'removal';

const COMPATIBLE: Readonly<Record<UseMode, readonly UseMode[]>> = {
  present: ['present', 'unchanged', 'change', 'power', 'guest'],
  unchanged: ['present', 'unchanged', 'guest'],
  change: ['present', 'guest'],
  power: ['present', 'guest', 'content'],
  guest: ['present', 'unchanged', 'change', 'power', 'guest', 'content'],
  content: ['power', 'guest', 'removal'],
  exclusive: [],
  removal: ['content'],
};

/** Whether two operations may use the same subject at the same time. */
export const areCompatible = (a: UseMode, b: UseMode): boolean => COMPATIBLE[a].includes(b);

export interface OperationRule {
  /** In sentences: "web is busy with a snapshot". */
  readonly label: string;
  /**
   * `request`: it ends with the response, so that another request waits for it. `long`: it may continue as a task or a
   * stream, so that another request is refused immediately.
   */
  readonly lasts: 'request' | 'long';
  /** How it uses the instance or image that it is about. */
  readonly uses: UseMode;
  /** Whether it also takes the name of an instance that does not exist yet, exclusively. */
  readonly takesName?: true;
}

const request = (label: string, uses: UseMode): OperationRule => ({ label, lasts: 'request', uses });
const long = (label: string, uses: UseMode): OperationRule => ({ label, lasts: 'long', uses });

/**
 * All operations on instances and images, and how each uses its subject. Decides what happens when two of them meet.
 */
export const OPERATIONS = {
  create: request('its creation', 'exclusive'),
  build: long('its creation from a bootable container image', 'exclusive'),
  delete: long('its deletion', 'removal'),
  start: request('a start', 'power'),
  stop: request('a stop', 'power'),
  restart: request('a restart', 'power'),
  pause: request('a pause', 'power'),
  unpause: request('the end of a pause', 'power'),
  tag: request('a change of its tags', 'power'),
  patch: request('a change of its settings', 'change'),
  template: request('a change of its template mark', 'change'),
  folder: request('a change of its folder', 'change'),
  hardware: request('a change of its hardware', 'change'),
  scale: request('a change of its size', 'change'),
  'attach-volume': request('a change of its disks', 'change'),
  'detach-volume': request('a change of its disks', 'change'),
  'expand-volume': request('a change of its disks', 'change'),
  'add-nic': request('a change of its network cards', 'change'),
  'change-nic': request('a change of its network cards', 'change'),
  'remove-nic': request('a change of its network cards', 'change'),
  'change-medium': request('a change of its drives', 'change'),
  'set-boot-order': request('a change of its boot order', 'change'),
  'set-autostart': request('a change of its autostart', 'change'),
  'set-placement': request('a change of its placement', 'change'),
  'attach-host-device': request('a change of its host devices', 'change'),
  'detach-host-device': request('a change of its host devices', 'change'),
  'move-disk': long('a move of one of its disks', 'exclusive'),
  migrate: long('a migration', 'exclusive'),
  snapshot: long('a snapshot', 'exclusive'),
  restore: long('the restore of a snapshot', 'exclusive'),
  'delete-snapshot': long('the deletion of a snapshot', 'exclusive'),
  'delete-checkpoint': request('the deletion of a checkpoint', 'change'),
  clone: { ...long('a clone', 'unchanged'), takesName: true },
  move: { ...long('a move', 'exclusive'), takesName: true },
  export: long('an export of its disk', 'unchanged'),
  'export-running': long('an export of its disk', 'present'),
  backup: long('a backup', 'present'),
  'backup-stopped': long('a backup', 'unchanged'),
  'read-files': long('a reading of its files', 'unchanged'),
  'restore-backup': long('its restore from a backup', 'exclusive'),
  'instant-restore': long('its restore from a backup', 'content'),
  'replace-disks': long('the restore of its disks', 'exclusive'),
  'add-disks': long('the restore of a disk', 'change'),
  'guest-password': request('a change in its guest', 'guest'),
  'guest-command': request('a program in its guest', 'guest'),
  import: long('its import', 'exclusive'),
  'upload-image': long('an upload of its file', 'exclusive'),
  'use-image': long('the creation of a VM from it', 'unchanged'),
  'delete-image': request('its deletion', 'exclusive'),
} as const satisfies Readonly<Record<string, OperationRule>>;

export type Operation = keyof typeof OPERATIONS;

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly Operation[];

export const ruleOf = (operation: Operation): OperationRule => OPERATIONS[operation];

/**
 * What happens to an operation that is requested while another one uses the same subject.
 * - `both`: it is carried out at the same time.
 * - `waits`: it is carried out after the other one, or refused when that takes too long.
 * - `refused`: 409 `BUSY`.
 */
export type Meeting = 'both' | 'waits' | 'refused';

/** @param second is requested while `first` is carried out */
export function meetingOf(first: Operation, second: Operation): Meeting {
  const holder = ruleOf(first);
  if (areCompatible(holder.uses, ruleOf(second).uses)) return 'both';
  return holder.lasts === 'request' ? 'waits' : 'refused';
}
