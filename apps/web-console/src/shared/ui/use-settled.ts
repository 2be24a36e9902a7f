import { useEffect, useState } from 'react';

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
