import { t, plural } from '@lingui/core/macro';
import type { TaskView } from '@headgate/api-contracts';
import { bulkLabel } from '../bulk/bulk-request.js';
import { memberCount } from '../bulk/bulk-report.js';

const TITLES: Readonly<Record<Exclude<TaskView['kind'], 'bulk'>, (name: string) => string>> = {
  create: (name) => t`Create ${name}`,
  migrate: (name) => t`Migrate ${name}`,
  snapshot: (name) => t`Change the snapshots of ${name}`,
  restore: (name) => t`Restore ${name}`,
  clone: (name) => t`Clone ${name}`,
  import: (name) => t`Import ${name}`,
  move: (name) => t`Move ${name}`,
  bootc: (name) => t`Build ${name}`,
  drain: (name) => t`Drain ${name}`,
  plugin: (name) => t`Install ${name}`,
  backup: (name) => t`Back up ${name}`,
  'restore-backup': (name) => t`Restore ${name} from a backup`,
  'instant-restore': (name) => t`Restore ${name} from a backup while it runs`,
  'restore-disks': (name) => t`Restore disks of ${name}`,
  'prove-backup': () => t`Boot a backup`,
  'check-backups': () => t`Check the backups`,
  'clean-backups': () => t`Clean up the backups`,
  'prove-backups': () => t`Boot the new backups`,
  disk: (name) => t`Move a disk of ${name}`,
};

/** A readable title, such as "Create web-1" or "Shut down 12 instances". */
export function taskTitle({ kind, ref, bulk }: Pick<TaskView, 'kind' | 'ref' | 'bulk'>): string {
  if (kind === 'bulk') {
    const count = bulk ? memberCount(bulk) : 0;
    return `${bulk ? bulkLabel(bulk) : t`Change`}: ${plural(count, { one: '# instance', other: '# instances' })}`;
  }
  const last = ref.split('/').at(-1);
  const name = last ? decodeURIComponent(last) : ref;
  return TITLES[kind]?.(name) ?? `${kind} ${name}`;
}
