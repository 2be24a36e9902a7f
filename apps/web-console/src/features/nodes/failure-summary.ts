import { t, plural } from '@lingui/core/macro';
import type { NodeFailureView } from '@headgate/api-contracts';

/** `12 restart elsewhere, 1 has no room, 2 stay down.` */
export function failureSummary({ instances, hidden }: Pick<NodeFailureView, 'instances' | 'hidden'>): string {
  if (instances.length === 0)
    return hidden === 0 ? t`No instance runs on it.` : t`You have no access to its instances.`;
  const count = (outcome: string): number => instances.filter((one) => one.outcome === outcome).length;
  const [restarts, noRoom, staysDown] = [count('restarts'), count('no-room'), count('stays-down')];
  const parts = [
    restarts > 0 ? plural(restarts, { one: '# restarts elsewhere', other: '# restart elsewhere' }) : '',
    noRoom > 0 ? plural(noRoom, { one: '# has no room', other: '# have no room' }) : '',
    staysDown > 0 ? plural(staysDown, { one: '# stays down', other: '# stay down' }) : '',
  ].filter((text) => text !== '');
  return `${parts.join(', ')}.`;
}
