import { useAnswer } from '../api/context.js';
import type { JournalEntry } from '../api/types.js';
import { clockTime } from '../model/durations.js';
import { Alert, Cell, Name, PageHead, State, type Tone } from '../ui/parts.js';

const ACTIONS: Record<JournalEntry['action'], string> = {
  lift: 'Lift',
  set_override: 'Set an override',
  delete_override: 'Remove an override',
};

const RESULTS: Record<NonNullable<JournalEntry['result']>, { tone: Tone; word: string }> = {
  done: { tone: 'ok', word: 'Done' },
  nothing: { tone: 'idle', word: 'Nothing to do' },
  failed: { tone: 'bad', word: 'Failed' },
};

/** What operators did, the newest first. */
export function JournalPage() {
  const { answer, error } = useAnswer<{ journal: JournalEntry[] }>('/journal', 10_000);
  return (
    <main className="desk-main" id="main">
      <PageHead title="Journal" note="What operators did" />
      {error !== undefined && <Alert>{error}</Alert>}
      {answer?.journal.length === 0 && <p className="desk-card desk-second">No operator has changed anything yet.</p>}
      {answer && answer.journal.length > 0 && (
        <div className="desk-card">
          <table className="desk-table">
            <thead>
              <tr>
                {['Time', 'Operator', 'Action', 'Rule', 'Key', 'Reason', 'Result'].map((label) => (
                  <th key={label} scope="col">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {answer.journal.map((entry) => (
                <Row key={entry.id} entry={entry} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </main>
  );
}

function Row({ entry }: { entry: JournalEntry }) {
  const { time, operator, address, action, rule, key, reason = '', detail, result } = entry;
  const { tone, word } = result === undefined ? { tone: 'warn' as const, word: 'Unknown' } : RESULTS[result];
  return (
    <tr>
      <Cell label="Time" className="desk-nowrap">
        <time dateTime={time}>{clockTime(time)}</time>
      </Cell>
      <Cell label="Operator">
        <b>
          <Name>{operator}</Name>
        </b>{' '}
        <span className="desk-quiet">
          <Name>{address}</Name>
        </span>
      </Cell>
      <Cell label="Action">
        {ACTIONS[action]}
        {detail !== undefined && <span className="desk-quiet"> {detail}</span>}
      </Cell>
      <Cell label="Rule">{rule === '*' ? 'all rules' : rule}</Cell>
      <Cell label="Key">
        <Name>{key}</Name>
      </Cell>
      <Cell label="Reason">
        <Name>{reason}</Name>
      </Cell>
      <td>
        <State tone={tone}>{word}</State>
      </td>
    </tr>
  );
}
