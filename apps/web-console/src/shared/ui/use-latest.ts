import { useCallback, useEffect, useRef } from 'react';

/** The same function for ever, which does what the last one given does. For handlers of what is not drawn again. */
export function useLatest<A extends readonly unknown[]>(run: (...args: A) => void): (...args: A) => void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  }, [run]);
  return useCallback((...args: A) => latest.current(...args), []);
}
