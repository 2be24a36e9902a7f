import type { ActivityView, HistoryRange } from '@headgate/api-contracts';
import { Button } from '../ui/button.js';
import { ACTIVITY_KINDS, activityText, type ActivityKind } from './activity-bars.js';
import { RANGES } from './activity-ranges.js';
import { ActivityGraph } from './activity-graph.js';
import { useActivitySelection, type TimeSpan } from './activity-span.js';
import { useActivity } from './use-activity.js';
import { useSpanDrag } from './use-span-drag.js';

const SCALE_LABELS = 6;

/**
 * How much was done over a range, from which a span can be selected for the lists below. Absent for callers who see a
 * part of the fleet only.
 */
export function ActivityChart() {
  const { range, span, chooseRange, chooseSpan } = useActivitySelection();
  const activity = useActivity(range);
  if (!activity) return null;
  return (
    <section className="hg-activity" aria-label="Actions over time">
      <div className="hg-toolbar">
        <h2>The last {RANGES[range].label}</h2>
        <span className="hg-note">{activityText(activity)}</span>
        <span className="hg-activity-legend" aria-hidden="true">
          {(Object.keys(ACTIVITY_KINDS) as ActivityKind[]).map((kind) => (
            <span key={kind}>
              <i className={`hg-activity--${kind}`} />
              {ACTIVITY_KINDS[kind]}
            </span>
          ))}
        </span>
        <span className="hg-spring" />
        <div className="hg-segments" role="group" aria-label="Range">
          {(Object.keys(RANGES) as HistoryRange[]).map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === range}
              aria-label={`Last ${RANGES[name].label}`}
              onClick={() => chooseRange(name)}
            >
              {RANGES[name].button}
            </button>
          ))}
        </div>
      </div>
      <Bars activity={activity} label={RANGES[range].label} selected={span} onSelect={chooseSpan} />
      <Scale activity={activity} format={RANGES[range].scale} />
      {span && (
        <p className="hg-activity-span">
          <span>{spanText(span)}</span>
          <Button variant="link" onClick={() => chooseSpan(undefined)}>
            Show all
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
  const part = (time: number): string =>
    `${(Math.min(1, Math.max(0, (time - activity.from) / (activity.to - activity.from))) * 100).toFixed(3)}%`;
  return (
    <div className="hg-activity-bars" {...handlers}>
      {span && (
        <span
          className="hg-activity-selected"
          style={{ insetInlineStart: part(span.from), insetInlineEnd: `calc(100% - ${part(span.to)})` }}
        />
      )}
      <ActivityGraph activity={activity} role="img" aria-label={`${activityText(activity)} in the last ${label}`} />
    </div>
  );
}

function Scale({ activity: { from, to }, format }: { activity: ActivityView; format: Intl.DateTimeFormatOptions }) {
  const written = new Intl.DateTimeFormat(undefined, format);
  const stepMs = (to - from) / (SCALE_LABELS - 1);
  return (
    <p className="hg-chart-scale hg-note" aria-hidden="true">
      {Array.from({ length: SCALE_LABELS }, (_none, index) => (
        <span key={index}>{index === SCALE_LABELS - 1 ? 'Now' : written.format(from + index * stepMs)}</span>
      ))}
    </p>
  );
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

const spanText = ({ from, to }: TimeSpan): string => MOMENT.formatRange(from, to);
