import { plural } from '@lingui/core/macro';
import { Icon } from '../ui/icon.js';
import type { Instance } from './instance.js';

/** The number of changes that wait for a restart; undefined when there are none. */
export const pendingText = (instance: Instance): string | undefined => {
  const count = 'pendingCount' in instance ? (instance.pendingCount ?? 0) : 0;
  return count === 0
    ? undefined
    : plural(count, { one: '# change waits for a restart', other: '# changes wait for a restart' });
};

/** Marks an instance with changes that wait for a restart. */
export function PendingMark({ instance }: { instance: Instance }) {
  const text = pendingText(instance);
  if (text === undefined) return null;
  return (
    <span className="hg-pending-mark hg-status--warning" role="img" aria-label={text} title={text}>
      <Icon name="restart" /> {'pendingCount' in instance && instance.pendingCount}
    </span>
  );
}
