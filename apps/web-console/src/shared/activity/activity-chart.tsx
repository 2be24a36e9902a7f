import type { CSSProperties } from 'react';
import { t } from '@lingui/core/macro';
import type { ActivityView, HistoryRange } from '@headgate/api-contracts';
import { Link, useSearch } from 'wouter';
import { Button } from '../ui/button.js';
import { activityKinds, activityText, type ActivityKind } from './activity-bars.js';
import { ranges } from './activity-ranges.js';
import { ActivityGraph } from './activity-graph.js';
import { timesOf, useActivitySelection, type TimeSpan } from './activity-span.js';
import { timeTicks } from './time-ticks.js';
import { useActivity } from './use-activity.js';
import { useSpanDrag } from './use-span-drag.js';
import { formatLocale } from '../texts/formats.js';
import { perLanguage } from '../texts/per-language.js';

interface ActivityChartProps {
  /** The page that lists the actions, if the user can open it and it is another one. */
  actionsPath?: string | undefined;
}

/**
 * How much was done over a range, from which a span can be selected for the lists below. Absent for callers who see a
 * part of the fleet only.
 */
export function ActivityChart({ actionsPath }: ActivityChartProps) {
  const { range, span, chooseRange, chooseSpan } = useActivitySelection();
  const activity = useActivity(range);
  const search = timesOf(useSearch());
  if (!activity) return null;
  return (
    <section className="hg-activity" aria-label={t`Actions over time`}>
      <div className="hg-toolbar">
        <h2>{t`The last ${ranges()[range].label}`}</h2>
        {actionsPath === undefined ? (
          <span className="hg-note">{activityText(activity)}</span>
        ) : (
          <Link href={search === '' ? actionsPath : `${actionsPath}?${search}`}>{activityText(activity)}</Link>
        )}
        <span className="hg-activity-legend" aria-hidden="true">
          {(Object.keys(activityKinds()) as ActivityKind[]).map((kind) => (
            <span key={kind}>
              <i className={`hg-activity--${kind}`} />
              {activityKinds()[kind]}
            </span>
          ))}
        </span>
        <span className="hg-spring" />
        <div className="hg-segments" role="group" aria-label={t`Range`}>
          {(Object.keys(ranges()) as HistoryRange[]).map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === range}
              aria-label={t`${ranges()[name].button}, the last ${ranges()[name].label}`}
              onClick={() => chooseRange(name)}
            >
              {ranges()[name].button}
            </button>
          ))}
        </div>
      </div>
      <Bars activity={activity} label={ranges()[range].label} selected={span} onSelect={chooseSpan} />
      <Scale activity={activity} />
      {span && (
        <p className="hg-activity-span">
          <span>{spanText(span)}</span>
          <Button variant="link" onClick={() => chooseSpan(undefined)}>
            {t`Show all`}
          </Button>
        </p>
      )}
    </section>
  );
}

interface BarsProps {
  activity: ActivityView;
  label: string;
  selected: TimeSpan | undefined;
  onSelect: (span: TimeSpan | undefined) => void;
}

/** A mouse or a finger selects spans here; the fields below the chart do the same with the keyboard. */
function Bars({ activity, label, selected, onSelect }: BarsProps) {
  const { span, handlers } = useSpanDrag(activity, selected, onSelect);
  return (
    <div className="hg-activity-bars" {...handlers}>
      {span && (
        <span
          className="hg-activity-selected"
          style={{
            insetInlineStart: partOf(span.from, activity),
            insetInlineEnd: `calc(100% - ${partOf(span.to, activity)})`,
          }}
        />
      )}
      <ActivityGraph activity={activity} role="img" aria-label={t`${activityText(activity)} in the last ${label}`} />
    </div>
  );
}

function Scale({ activity: { range, from, to } }: { activity: ActivityView }) {
  const { tickMinutes, scale } = ranges()[range];
  const written = new Intl.DateTimeFormat(formatLocale(), scale);
  return (
    <p className="hg-activity-scale hg-note" aria-hidden="true">
      {timeTicks(from, to, tickMinutes).map((tick) => (
        <span key={tick} style={{ '--hg-at': shareOf(tick, { from, to }) } as CSSProperties}>
          {written.format(tick)}
        </span>
      ))}
      <span>{t`Now`}</span>
    </p>
  );
}

/** Where a time is between two others, from 0 to 1. */
const shareOf = (time: number, { from, to }: TimeSpan): number => Math.min(1, Math.max(0, (time - from) / (to - from)));

const partOf = (time: number, span: TimeSpan): string => `${(shareOf(time, span) * 100).toFixed(3)}%`;

const moments = perLanguage(() => new Intl.DateTimeFormat(formatLocale(), { dateStyle: 'medium', timeStyle: 'short' }));

const spanText = ({ from, to }: TimeSpan): string => moments().formatRange(from, to);
