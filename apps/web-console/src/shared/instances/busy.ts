import type { BusyView } from '@headgate/api-contracts';
import type { Instance } from './instance.js';

interface Wording {
  /** Next to the status, in a narrow column. */
  readonly word: string;
  /** In sentences: "web is busy with a snapshot". */
  readonly label: string;
}

/** The operations that tasks carry out. */
const WORDING = new Map<BusyView['action'], Wording>([
  ['create', { word: 'Creating', label: 'its creation' }],
  ['build', { word: 'Building', label: 'its creation from a bootable container image' }],
  ['delete', { word: 'Deleting', label: 'its deletion' }],
  ['move-disk', { word: 'Disk move', label: 'a move of one of its disks' }],
  ['migrate', { word: 'Migrating', label: 'a migration' }],
  ['snapshot', { word: 'Snapshot', label: 'a snapshot' }],
  ['restore', { word: 'Restoring', label: 'the restore of a snapshot' }],
  ['delete-snapshot', { word: 'Snapshot', label: 'the deletion of a snapshot' }],
  ['clone', { word: 'Cloning', label: 'a clone' }],
  ['move', { word: 'Moving', label: 'a move' }],
  ['export', { word: 'Exporting', label: 'an export of its disk' }],
  ['import', { word: 'Importing', label: 'its import' }],
]);
/** Of an operation that only a newer service knows. */
const OTHER: Wording = { word: 'Busy', label: 'a change' };

const wordingOf = ({ action }: BusyView): Wording => WORDING.get(action) ?? OTHER;

/** These need the instance unchanged, so that it can be copied several times at the same time. */
const COPIES: readonly BusyView['action'][] = ['clone', 'export'];

/** The operation of the task that uses the instance, as a word; undefined without one. */
export const busyWord = ({ busy }: Instance): string | undefined => busy && wordingOf(busy).word;

/** "web is busy with a snapshot." */
export const busySentence = (name: string, busy: BusyView): string => `${name} is busy with ${wordingOf(busy).label}.`;

/**
 * Why an action would be refused because of the task that uses the instance; undefined when the user may try it.
 * @param use `copy` only reads its disks, and `guest` changes something inside its guest
 */
export function busyReason({ name, busy }: Instance, use: 'change' | 'copy' | 'guest' = 'change'): string | undefined {
  if (!busy || (use !== 'change' && COPIES.includes(busy.action))) return undefined;
  return `${busySentence(name, busy)} It has to end or be canceled first.`;
}
