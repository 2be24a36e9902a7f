import { t } from '@lingui/core/macro';
import { useQuery } from '@tanstack/react-query';
import { formatLocale } from '../../../shared/texts/formats.js';
import { ServiceText } from '../../../shared/ui/service-text.js';
import { useSettled } from '../../../shared/ui/use-settled.js';
import { previewTimes, type Times } from '../api/schedule-requests.js';

const TYPING_MS = 300;

/** The next five runs of an expression while it is typed, in its time zone. */
export function NextRuns({ cron, timeZone }: Times) {
  const typed = JSON.stringify({ cron, timeZone });
  const settled = useSettled(typed, TYPING_MS, typed);
  const { data, error } = useQuery({
    queryKey: ['schedules', 'preview', settled],
    queryFn: ({ signal }) => previewTimes(JSON.parse(settled) as Times, signal),
    retry: false,
    placeholderData: (before) => before,
  });
  return (
    <div className="hg-field" role="group" aria-label={t`Next runs`}>
      <span>{t`Next runs`}</span>
      <div aria-live="polite">
        {error ? (
          <p className="hg-status--danger">
            <ServiceText>{error.message}</ServiceText>
          </p>
        ) : (
          <ol className="hg-note">
            {data?.times.map((time) => (
              <li key={time}>
                <time dateTime={time}>{shown(time, timeZone)}</time>
              </li>
            ))}
          </ol>
        )}
      </div>
    </div>
  );
}

/** The time on the clocks of the schedule. While the zone is being typed, the last answer may be for another one. */
function shown(time: string, timeZone: string): string {
  const options = { dateStyle: 'full', timeStyle: 'short' } as const;
  try {
    return new Intl.DateTimeFormat(formatLocale(), { ...options, timeZone }).format(new Date(time));
  } catch {
    return new Intl.DateTimeFormat(formatLocale(), options).format(new Date(time));
  }
}
