import type { CallerCountView, JournalFilterDto } from '@headgate/api-contracts';
import { useJournalSummary } from '../api/use-journal.js';

interface JournalCallersProps {
  filters: JournalFilterDto;
  onChoose: (fields: { user: string; token: string }) => void;
}

/** How many entries match, and a button for each caller that shows theirs only. */
export function JournalCallers({ filters, onChoose }: JournalCallersProps) {
  const { caller, token, ...others } = filters;
  const { data: all } = useJournalSummary(others);
  const { data: shown } = useJournalSummary(filters);
  if (!all || !shown || all.entries === 0) return null;
  const isOnlyOne = caller !== undefined || token !== undefined;
  return (
    <div className="hg-toolbar hg-gap-below">
      <div className="hg-chips" role="group" aria-label="Callers">
        <button
          type="button"
          className="hg-chip"
          aria-pressed={!isOnlyOne}
          onClick={() => onChoose({ user: '', token: '' })}
        >
          All <b>{all.entries.toLocaleString()}</b>
        </button>
        {all.callers.map((one) => (
          <button
            key={`${one.caller} ${one.token}`}
            type="button"
            className="hg-chip"
            aria-pressed={one.caller === caller && one.token === (token ?? '')}
            onClick={() => onChoose({ user: one.caller, token: one.token })}
          >
            {nameOf(one)} <b>{one.entries.toLocaleString()}</b>
          </button>
        ))}
      </div>
      <span className="hg-note">{summaryText(shown)}</span>
    </div>
  );
}

const nameOf = ({ caller, token }: CallerCountView): string =>
  token === '' ? caller || 'Without an identity' : `${caller || 'Without an identity'}, token ${token}`;

/** "214 entries about 96 objects, 7 failed, 2 denied" */
function summaryText({
  entries,
  objects,
  failed,
  denied,
}: Record<'entries' | 'objects' | 'failed' | 'denied', number>) {
  const count = (number: number, one: string, many: string): string =>
    `${number.toLocaleString()} ${number === 1 ? one : many}`;
  return [
    `${count(entries, 'entry', 'entries')} about ${count(objects, 'object', 'objects')}`,
    ...(failed > 0 ? [`${failed.toLocaleString()} failed`] : []),
    ...(denied > 0 ? [`${denied.toLocaleString()} denied`] : []),
  ].join(', ');
}
