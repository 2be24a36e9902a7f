import type { TaskView } from '@headgate/api-contracts';
import { bulkLabel } from '../bulk/bulk-request.js';
import { memberCount } from '../bulk/bulk-report.js';

const VERBS: Readonly<Record<Exclude<TaskView['kind'], 'bulk'>, string>> = {
  create: 'Create',
  migrate: 'Migrate',
  snapshot: 'Change the snapshots of',
  restore: 'Restore',
  clone: 'Clone',
  import: 'Import',
  move: 'Move',
  bootc: 'Build',
  drain: 'Drain',
  plugin: 'Install',
  disk: 'Move a disk of',
};

/** A readable title, such as "Create web-1" or "Shut down 12 instances". */
export function taskTitle({ kind, ref, bulk }: Pick<TaskView, 'kind' | 'ref' | 'bulk'>): string {
  if (kind === 'bulk') {
    const count = bulk ? memberCount(bulk) : 0;
    return `${bulk ? bulkLabel(bulk) : 'Change'}: ${count.toLocaleString('en')} ${count === 1 ? 'instance' : 'instances'}`;
  }
  const name = ref.split('/').at(-1);
  return `${VERBS[kind] ?? kind} ${name ? decodeURIComponent(name) : ref}`;
}
