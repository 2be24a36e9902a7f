import { t } from '@lingui/core/macro';
import type { BusyView } from '@headgate/api-contracts';
import type { Instance } from './instance.js';
import { perLanguage } from '../texts/per-language.js';

interface Wording {
  /** Next to the status, in a narrow column. */
  readonly word: string;
  /** In sentences: "web is busy with a snapshot". */
  readonly label: string;
}

/** The operations that tasks carry out. */
const wording = perLanguage(
  () =>
    new Map<BusyView['action'], Wording>([
      ['create', { word: t`Creating`, label: t`its creation` }],
      ['build', { word: t`Building`, label: t`its creation from a bootable container image` }],
      ['delete', { word: t`Deleting`, label: t`its deletion` }],
      ['move-disk', { word: t`Disk move`, label: t`a move of one of its disks` }],
      ['migrate', { word: t`Migrating`, label: t`a migration` }],
      ['snapshot', { word: t`Snapshot`, label: t`a snapshot` }],
      ['restore', { word: t`Restoring`, label: t`the restore of a snapshot` }],
      ['delete-snapshot', { word: t`Snapshot`, label: t`the deletion of a snapshot` }],
      ['clone', { word: t`Cloning`, label: t`a clone` }],
      ['move', { word: t`Moving`, label: t`a move` }],
      ['export', { word: t`Exporting`, label: t`an export of its disk` }],
      ['backup', { word: t`Backup`, label: t`a backup` }],
      ['backup-stopped', { word: t`Backup`, label: t`a backup` }],
      ['read-files', { word: t`Files`, label: t`a reading of its files` }],
      ['restore-backup', { word: t`Restoring`, label: t`its restore from a backup` }],
      ['instant-restore', { word: t`Restoring`, label: t`its restore from a backup` }],
      ['replace-disks', { word: t`Restoring`, label: t`the restore of its disks` }],
      ['add-disks', { word: t`Restoring`, label: t`the restore of a disk` }],
      ['import', { word: t`Importing`, label: t`its import` }],
    ]),
);
/** Of an operation that only a newer service knows. */
const other = perLanguage((): Wording => ({ word: t`Busy`, label: t`a change` }));

const wordingOf = ({ action }: BusyView): Wording => wording().get(action) ?? other();

/** These need the instance unchanged, so that it can be copied several times at the same time. */
const COPIES: readonly BusyView['action'][] = ['clone', 'export', 'backup', 'backup-stopped'];

/** The operation of the task that uses the instance, as a word; undefined without one. */
export const busyWord = ({ busy }: Instance): string | undefined => busy && wordingOf(busy).word;

/** "web is busy with a snapshot." */
export const busySentence = (name: string, busy: BusyView): string => t`${name} is busy with ${wordingOf(busy).label}.`;

/**
 * Why an action would be refused because of the task that uses the instance; undefined when the user may try it.
 * @param use `copy` only reads its disks, and `guest` changes something inside its guest
 */
export function busyReason({ name, busy }: Instance, use: 'change' | 'copy' | 'guest' = 'change'): string | undefined {
  if (!busy || (use !== 'change' && COPIES.includes(busy.action))) return undefined;
  return t`${busySentence(name, busy)} It must end or be canceled first.`;
}
