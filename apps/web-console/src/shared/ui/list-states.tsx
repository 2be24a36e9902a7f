import type { ReactNode } from 'react';
import { ErrorAlert } from './error-alert.js';
import { Skeleton } from './loading.js';

interface ListStatesProps<T> {
  query: { readonly data: readonly T[] | undefined; readonly error: Error | null; readonly refetch: () => unknown };
  /** The title of the message when it can't be loaded. */
  failure: string;
  loading: string;
  /** In place of an empty list. */
  empty: ReactNode;
  children: (items: readonly T[]) => ReactNode;
}

/** A list that is loaded from the service: its error, its shape while it loads, and its text when it is empty. */
export function ListStates<T>({
  query: { data, error, refetch },
  failure,
  loading,
  empty,
  children,
}: ListStatesProps<T>) {
  return (
    <>
      {error && <ErrorAlert title={failure} error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height="6rem" label={loading} />}
      {data?.length === 0 && (typeof empty === 'string' ? <p className="hg-note">{empty}</p> : empty)}
      {data && data.length > 0 && children(data)}
    </>
  );
}
