import type { ActivityView } from '@headgate/api-contracts';
import { useMemo, type ComponentProps } from 'react';
import { activityKinds, barPaths, spansOf, type ActivityKind } from './activity-bars.js';

/** The bars of a range, from left to right, as wide as the element is. */
export function ActivityGraph({ activity, ...svg }: { activity: ActivityView } & ComponentProps<'svg'>) {
  const paths = useMemo(() => barPaths(activity), [activity]);
  return (
    <svg viewBox={`0 0 ${spansOf(activity)} 1`} preserveAspectRatio="none" {...svg}>
      {(Object.keys(activityKinds()) as ActivityKind[]).map((kind) => (
        <path key={kind} className={`hg-activity--${kind}`} d={paths[kind]} />
      ))}
    </svg>
  );
}
