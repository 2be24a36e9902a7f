import type { DialogData } from './data.js';
import { administrationDialogs } from './of-administration.js';
import { backupDialogs } from './of-backups.js';
import { infrastructureDialogs } from './of-infrastructure.js';
import { instanceDialogs } from './of-instances.js';
import { listDialogs } from './of-lists.js';
import type { ConsoleDialog } from './stage.js';

/**
 * Every dialog, panel with a plan, menu and palette of the console that a simulated cluster has data for, and those of
 * simulated backups.
 */
export const allDialogs = (data: DialogData): readonly ConsoleDialog[] => [
  ...instanceDialogs(data),
  ...listDialogs(data),
  ...infrastructureDialogs(data),
  ...administrationDialogs(data),
  ...backupDialogs(data),
];
