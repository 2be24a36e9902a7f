import { t } from '@lingui/core/macro';
import { LabeledInput } from '../ui/labeled-input.js';
import { useActivitySelection, type TimeSpan } from './activity-span.js';

const DAY_MS = 24 * 60 * 60_000;

/** The two ends of the selected span as fields, in the time zone of the browser. */
export function SpanFields() {
  const { span, chooseSpan } = useActivitySelection();
  /** The other end moves along, if it has to. */
  const choose = (changed: Partial<TimeSpan>): void => {
    if (Object.values(changed).some(Number.isNaN)) return chooseSpan(undefined);
    const { from = changed.to === undefined ? 0 : changed.to - DAY_MS, to = from + DAY_MS } = { ...span, ...changed };
    if (from < to) return chooseSpan({ from, to });
    chooseSpan(changed.from === undefined ? { from: to - DAY_MS, to } : { from, to: from + DAY_MS });
  };
  return (
    <>
      <LabeledInput
        label={t`From`}
        type="datetime-local"
        value={toLocal(span?.from)}
        onChange={(text) => choose({ from: new Date(text).getTime() })}
      />
      <LabeledInput
        label={t`To`}
        type="datetime-local"
        value={toLocal(span?.to)}
        onChange={(text) => choose({ to: new Date(text).getTime() })}
      />
    </>
  );
}

/** `2026-01-31T09:05` in the time zone of the browser. */
function toLocal(time: number | undefined): string {
  if (time === undefined) return '';
  const date = new Date(time);
  return new Date(time - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
