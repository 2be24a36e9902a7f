import type { NodeFailureView } from '@headgate/api-contracts';

export const UNCHECKED_OF_SOME = 'Of some instances:';

/** `12 restart elsewhere, 1 has no room, 2 stay down.` */
export function failureSummary({ instances, hidden }: Pick<NodeFailureView, 'instances' | 'hidden'>): string {
  if (instances.length === 0) return hidden === 0 ? 'No instance runs on it.' : 'You may see none of its instances.';
  const count = (outcome: string): number => instances.filter((one) => one.outcome === outcome).length;
  const parts = [
    part(count('restarts'), 'restarts elsewhere', 'restart elsewhere'),
    part(count('no-room'), 'has no room', 'have no room'),
    part(count('stays-down'), 'stays down', 'stay down'),
  ].filter((text) => text !== '');
  return `${parts.join(', ')}.`;
}

const part = (count: number, one: string, many: string): string =>
  count === 0 ? '' : `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
