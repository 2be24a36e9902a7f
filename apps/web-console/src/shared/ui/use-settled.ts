import { useEffect, useRef, useState } from 'react';

/**
 * The value, once it has not changed for a while.
 * @param first counts as settled until then
 */
export function useSettled<T>(value: T, ms: number, first: T): T {
  const [settled, setSettled] = useState(first);
  useEffect(() => {
    if (ms === 0) return undefined;
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return ms === 0 ? value : settled;
}

/**
 * The value after a single change, or the last one of several quick changes, once it has not changed for a while.
 * @param first counts as settled until then
 */
export function useSettledBurst<T>(value: T, ms: number, first: T): T {
  const [settled, setSettled] = useState(first);
  const lastChange = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const now = performance.now();
    const isLone = now - lastChange.current >= ms;
    lastChange.current = now;
    const timer = setTimeout(() => setSettled(value), isLone ? 0 : ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
