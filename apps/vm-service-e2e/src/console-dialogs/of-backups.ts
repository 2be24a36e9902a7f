import { POINT_TIME } from './answer-backups.js';
import type { DialogData } from './data.js';
import { PANEL, PLANNED, press, select, type ConsoleDialog } from './stage.js';

/** The dialogs of a backup and of files on disks, with the answers of `answerBackups`. */
export function backupDialogs({ running, stopped }: DialogData): readonly ConsoleDialog[] {
  const { context, namespace, name } = stopped;
  const point = { vm: running.name, at: POINT_TIME };
  const restore = (way: string): ConsoleDialog => ({
    name: `the restore of a backup: ${way}`,
    path: '/backups',
    layer: PANEL,
    ready: PLANNED,
    steps: [press('Restore the backup of {vm} of {at}', point), select('#restore-way', way)],
  });
  const files = `${PANEL} table`;
  return [
    restore('new'),
    restore('add-disks'),
    restore('replace-disks'),
    {
      name: 'the boot of a backup',
      path: '/backups',
      layer: PANEL,
      ready: PLANNED,
      steps: [press('Boot the backup of {vm} of {at}', point)],
    },
    {
      name: 'the files of a backup',
      path: '/backups',
      layer: PANEL,
      ready: files,
      steps: [press('Browse the files in the backup of {vm} of {at}', point), press('Open the files')],
    },
    {
      name: 'the files of a stopped VM',
      path: `/vms/${context}/${namespace}/${name}`,
      layer: PANEL,
      ready: files,
      steps: [press('Browse the files…'), press('Open the files')],
    },
  ];
}
