import { createContext, useCallback, useContext, useEffect, useState } from 'react';
import { Client, sentenceOf } from './client.js';

export const ClientContext = createContext(new Client(''));

export const useClient = (): Client => useContext(ClientContext);

export interface Loaded<Answer> {
  readonly answer: Answer | undefined;
  readonly error: string | undefined;
  reload(): void;
}

/**
 * An answer of the API, which stays while it is loaded again.
 * @param everyMs how often it is loaded again; once when left out
 */
export function useAnswer<Answer>(path: string | undefined, everyMs?: number): Loaded<Answer> {
  const client = useClient();
  const [state, setState] = useState<{ path?: string; answer?: Answer; error?: string }>({});
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((last) => last + 1), []);
  useEffect(() => {
    if (path === undefined) return undefined;
    const canceled = new AbortController();
    const load = () =>
      client.get<Answer>(path, canceled.signal).then(
        (answer) => setState({ path, answer }),
        (error: unknown) => {
          if (canceled.signal.aborted) return;
          setState((last) => ({ path, error: sentenceOf(error), ...(last.path === path && { answer: last.answer! }) }));
        },
      );
    void load();
    const timer = everyMs === undefined ? undefined : setInterval(() => void load(), everyMs);
    return () => {
      canceled.abort();
      clearInterval(timer);
    };
  }, [client, path, everyMs, round]);
  const isPresent = state.path === path;
  return { answer: isPresent ? state.answer : undefined, error: isPresent ? state.error : undefined, reload };
}
