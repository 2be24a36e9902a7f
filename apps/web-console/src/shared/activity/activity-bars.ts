import { t as translate, plural } from '@lingui/core/macro';
import type { ActivityCountView, ActivityView } from '@headgate/api-contracts';
import { perLanguage } from '../texts/per-language.js';
import { readableNumber } from '../texts/formats.js';

/** The kinds of actions of a bar, from the bottom up. */
export const activityKinds = perLanguage(
  () => ({ users: translate`users`, tokens: translate`API tokens`, failed: translate`failed` }) as const,
);

export type ActivityKind = keyof ReturnType<typeof activityKinds>;

const kinds = perLanguage(() => Object.keys(activityKinds()) as ActivityKind[]);

export const totalOf = (count: Pick<ActivityCountView, ActivityKind>): number =>
  kinds().reduce((sum, kind) => sum + count[kind], 0);

export const actionsOf = ({ counts }: Pick<ActivityView, 'counts'>): number =>
  counts.reduce((sum, count) => sum + totalOf(count), 0);

export const failuresOf = ({ counts }: Pick<ActivityView, 'counts'>): number =>
  counts.reduce((sum, { failed }) => sum + failed, 0);

/** How many spans a range has. */
export const spansOf = ({ from, to, stepMs }: ActivityView): number => Math.round((to - from) / stepMs);

/** Part of a bar: a width of 0.8 in units of spans, and a height in parts of the largest bar. */
const WIDTH = 0.8;

/** A bar with few actions next to one with many is still visible. */
const MIN_HEIGHT = 0.06;

/**
 * The bars as one path for each kind, in a box of as many units as there are spans, and a height of 1. Counts out of
 * the range are left out.
 */
export function barPaths(activity: ActivityView): Readonly<Record<ActivityKind, string>> {
  const { from, to, stepMs, counts } = activity;
  const shown = counts.filter(({ t }) => t >= from && t < to);
  const largest = Math.max(1, ...shown.map(totalOf));
  const paths = { users: '', tokens: '', failed: '' };
  for (const count of shown) {
    const x = round((count.t - from) / stepMs + (1 - WIDTH) / 2);
    let y = 1;
    for (const kind of kinds()) {
      if (count[kind] === 0) continue;
      const height = Math.max(MIN_HEIGHT, count[kind] / largest);
      y -= height;
      paths[kind] += `M${x} ${round(y)}h${WIDTH}v${round(height)}h-${WIDTH}z`;
    }
  }
  return paths;
}

const round = (value: number): number => Math.round(value * 1000) / 1000;

/** "214 actions, 7 failed" */
export function activityText(activity: Pick<ActivityView, 'counts'>): string {
  const [actions, failures] = [actionsOf(activity), failuresOf(activity)];
  const text = plural(actions, { one: '# action', other: '# actions' });
  return failures === 0 ? text : translate`${text}, ${readableNumber(failures)} failed`;
}
