import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { extensionPath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { getResponse } from '../../../shared/api/request.js';
import { LogFeed, type LogState } from './log-feed.js';

export interface LogChoice {
  readonly follows: boolean;
  /** The run before the last restart. */
  readonly isPrevious: boolean;
}

/** The most lines of a download. */
const MAX_DOWNLOADED = 100_000;
const FIRST_LINES = 1000;

const logPath = (address: InstanceAddress) => `${extensionPath(address, 'cts')}/logs` as const;

/** Opens the log with the times of its lines. */
const openLog =
  (address: InstanceAddress, { follows, isPrevious }: LogChoice) =>
  (since: string | undefined, signal: AbortSignal): Promise<Response> =>
    getResponse(logPath(address), {
      query: {
        context: address.context,
        timestamps: true,
        ...(since === undefined ? { tail: FIRST_LINES } : { since, tail: MAX_DOWNLOADED }),
        ...(isPrevious && { previous: true }),
        ...(follows && { follow: true }),
      },
      signal,
    });

/** The log as a file, as the program has written it. */
export const downloadLog = async (address: InstanceAddress, isPrevious: boolean, hasTimes: boolean): Promise<Blob> => {
  const response = await getResponse(logPath(address), {
    query: {
      context: address.context,
      tail: MAX_DOWNLOADED,
      ...(hasTimes && { timestamps: true }),
      ...(isPrevious && { previous: true }),
    },
  });
  return response.blob();
};

const LOADING: LogState = { lines: [], dropped: 0, phase: 'loading' };

/** The log of a container while the component is shown. @param version another value opens it again */
export function useContainerLog(address: InstanceAddress, choice: LogChoice, version: unknown): LogState {
  const { context, namespace, name } = address;
  const { follows, isPrevious } = choice;
  const [feed, setFeed] = useState<LogFeed>();
  useEffect(() => {
    const open = openLog({ context, namespace, name }, { follows, isPrevious });
    const opened = new LogFeed({ open, follows });
    setFeed(opened);
    opened.start();
    return () => opened.close();
  }, [context, namespace, name, follows, isPrevious, version]);
  const subscribe = useCallback((listener: () => void) => feed?.subscribe(listener) ?? (() => undefined), [feed]);
  return useSyncExternalStore(subscribe, () => feed?.getState() ?? LOADING);
}
