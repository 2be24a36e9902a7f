import type { TaskView } from '@headgate/api-contracts';

const VERBS: Readonly<Record<TaskView['kind'], string>> = {
  create: 'Create',
  migrate: 'Migrate',
  bulk: 'Bulk',
};

/** A readable title, such as "Create web-1". */
export function taskTitle({ kind, ref }: Pick<TaskView, 'kind' | 'ref'>): string {
  const name = ref.split('/').at(-1);
  return `${VERBS[kind] ?? kind} ${name ? decodeURIComponent(name) : ref}`;
}
