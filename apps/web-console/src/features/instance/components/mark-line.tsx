import { formatLocale } from '../../../shared/texts/formats.js';
import { t as translate } from '@lingui/core/macro';
import { Icon } from '../../../shared/ui/icon.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import type { EventMark } from '../event-marks.js';

/** The events of a span above their lines in the charts, each at its time, with a text for screen readers. */
export function MarkLine({ marks, from, to }: { marks: readonly EventMark[]; from: number; to: number }) {
  if (marks.length === 0) return null;
  return (
    <ol className="hg-marks" aria-label={translate`Events in this time`}>
      {marks.map(({ t, icon, isFailure, text }) => (
        <li
          key={`${t} ${text}`}
          className={isFailure ? 'hg-time-mark hg-time-mark--failure' : 'hg-time-mark'}
          style={{ insetInlineStart: `${((t - from) / (to - from)) * 100}%` }}
          title={`${text}, ${new Date(t).toLocaleString(formatLocale())}`}
        >
          <Icon name={icon} />
          <span className="hg-hidden">
            {text}, <Timestamp at={new Date(t).toISOString()} />
          </span>
        </li>
      ))}
    </ol>
  );
}
