import { useEffect, useState } from 'react';
import { useClient } from '../api/context.js';
import { followRefusals } from '../api/follow-refusals.js';
import type { Refusal } from '../api/types.js';
import { emptyList, type LiveList, received, revealed } from '../model/live-list.js';
import { Button, PageHead, State } from '../ui/parts.js';
import { RefusalTable } from '../ui/refusal-table.js';
import { useNow } from '../ui/use-now.js';

/** The refusals as they happen. New ones wait for the operator, so that no row moves under the pointer. */
export function RefusalsPage() {
  const client = useClient();
  const [list, setList] = useState<LiveList<Refusal>>(emptyList);
  const [state, setState] = useState<'live' | 'waiting'>('waiting');
  const nowMs = useNow();
  useEffect(() => {
    const canceled = new AbortController();
    void followRefusals(client, canceled.signal, {
      onRefusals: (refusals, skipped) => setList((last) => received(last, refusals, skipped)),
      onState: (next) => {
        // The stream begins with the latest refusals each time.
        if (next === 'live') setList(emptyList);
        setState(next);
      },
    });
    return () => canceled.abort();
  }, [client]);
  const { shown, waiting, left } = list;
  return (
    <main className="desk-main" id="main">
      <PageHead
        title="Refusals"
        note={<State tone={state === 'live' ? 'ok' : 'idle'}>{state === 'live' ? 'Live' : 'Connecting'}</State>}
      >
        <span role="status">
          {waiting.length > 0 && (
            <Button onClick={() => setList(revealed)}>
              Show {waiting.length} new {waiting.length === 1 ? 'refusal' : 'refusals'}
            </Button>
          )}
        </span>
      </PageHead>
      <div className="desk-stack">
        {shown.length > 0 && (
          <div className="desk-card">
            <RefusalTable refusals={shown} nowMs={nowMs} />
          </div>
        )}
        {shown.length === 0 && state === 'live' && (
          <p className="desk-card desk-second">No request was refused since the start.</p>
        )}
        {left > 0 && <p className="desk-quiet">{left} more are not listed. The rules page counts all of them.</p>}
      </div>
    </main>
  );
}
