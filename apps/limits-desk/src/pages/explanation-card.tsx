import type { ExplainedRequest, Explanation } from '../api/types.js';
import { clockTime, duration, windowText } from '../model/durations.js';
import { Button, Cell, Name, RequestCell, State, type Tone, UsedBar } from '../ui/parts.js';

/** The state of a key of a rule, in words. */
export function stateOf({ blockedForMs, isFull, shadow }: Explanation): { tone: Tone; word: string } {
  if (shadow) return isFull ? { tone: 'warn', word: 'Would be refused' } : { tone: 'idle', word: 'Shadow' };
  if (blockedForMs > 0) return { tone: 'bad', word: 'Blocked' };
  return isFull ? { tone: 'bad', word: 'Full' } : { tone: 'ok', word: 'Has room' };
}

/** A key of a rule with the requests that used its limit. */
export function ExplanationCard({ one, nowMs, onLift }: { one: Explanation; nowMs: number; onLift: () => void }) {
  const { rule, key, limit, counted, inFlight, windowMs, closesInMs, blockedForMs, requests } = one;
  const { tone, word } = stateOf(one);
  return (
    <section className="desk-card desk-stack" aria-label={`${rule}`}>
      <div className="desk-row">
        <State tone={tone}>{word}</State>
        <h2>
          {rule} for <Name>{key}</Name>
        </h2>
        <span className="desk-spring" />
        <Button onClick={onLift} {...(tone === 'bad' && { kind: 'primary' as const })}>
          Lift…
        </Button>
      </div>
      <div>
        {counted} of {limit} counted in {windowText(windowMs)}
        {inFlight > 0 && `, ${inFlight} in progress`}
        {closesInMs > 0 && ` · the window ends in ${duration(closesInMs)}`}
        {blockedForMs > 0 && ` · the block ends in ${duration(blockedForMs)}`}
        <UsedBar used={(counted + inFlight) / limit} isFull={tone === 'bad'} />
      </div>
      {requests.length > 0 ? (
        <Requests requests={requests} nowMs={nowMs} />
      ) : (
        <p className="desk-quiet">The counted requests are older than the recorded ones.</p>
      )}
    </section>
  );
}

function Requests({ requests, nowMs }: { requests: readonly ExplainedRequest[]; nowMs: number }) {
  return (
    <table className="desk-table">
      <thead>
        <tr>
          {['Time', 'Counted', 'From', 'Request'].map((label) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {requests.map(({ time, counted, refusedBy, address, user, event, path = '' }, index) => (
          <tr key={`${time} ${requests.length - index}`}>
            <Cell label="Time" className="desk-nowrap">
              <time dateTime={time}>{clockTime(time, nowMs)}</time>
            </Cell>
            <Cell label="Counted">{wordOf(counted, refusedBy)}</Cell>
            <Cell label="From">
              <Name>{address}</Name>
              {user !== undefined && (
                <>
                  {' '}
                  as <Name>{user}</Name>
                </>
              )}
            </Cell>
            <RequestCell event={event} path={path} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function wordOf(counted: boolean | null, refusedBy: string | undefined): string {
  if (refusedBy !== undefined) return `no, ${refusedBy} refused it`;
  if (counted === null) return 'in progress';
  return counted ? 'yes' : 'no';
}
