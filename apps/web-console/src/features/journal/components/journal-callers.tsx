import { t, plural } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { CallerCountView, JournalFilterDto } from '@headgate/api-contracts';
import { useJournalSummary } from '../api/use-journal.js';
import { readableNumber } from '../../../shared/texts/formats.js';
import { Data } from '../../../shared/ui/data.js';

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
      <div className="hg-chips" role="group" aria-label={t`Callers`}>
        <button
          type="button"
          className="hg-chip"
          aria-pressed={!isOnlyOne}
          onClick={() => onChoose({ user: '', token: '' })}
        >
          <Trans>
            All <b>{readableNumber(all.entries)}</b>
          </Trans>
        </button>
        {all.callers.map((one) => (
          <button
            key={`${one.caller} ${one.token}`}
            type="button"
            className="hg-chip"
            aria-pressed={one.caller === caller && one.token === (token ?? '')}
            onClick={() => onChoose({ user: one.caller, token: one.token })}
          >
            {one.token === '' && one.caller !== '' ? <Data>{one.caller}</Data> : nameOf(one)}{' '}
            <b>{readableNumber(one.entries)}</b>
          </button>
        ))}
      </div>
      <span className="hg-note">{summaryText(shown)}</span>
    </div>
  );
}

const nameOf = ({ caller, token }: CallerCountView): string =>
  token === '' ? caller || t`Without an identity` : t`${caller || t`Without an identity`}, token ${token}`;

/** "214 entries about 96 objects, 7 failed, 2 denied" */
function summaryText({
  entries,
  objects,
  failed,
  denied,
}: Record<'entries' | 'objects' | 'failed' | 'denied', number>) {
  const about = plural(objects, { one: '# object', other: '# objects' });
  return [
    t`${plural(entries, { one: '# entry', other: '# entries' })} about ${about}`,
    ...(failed > 0 ? [t`${readableNumber(failed)} failed`] : []),
    ...(denied > 0 ? [t`${readableNumber(denied)} denied`] : []),
  ].join(', ');
}
