import { useEffect, type RefObject } from 'react';

const LEAVES = ['Control', 'Alt', 'Shift'];

/**
 * A console takes every key, Tab too. Ctrl, Alt and Shift together lead from it to its tools, so that nobody who has no mouse
 * is caught in it.
 */
export function useLeaveKey(frame: RefObject<HTMLElement | null>, bar: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      const all = event.ctrlKey && event.altKey && event.shiftKey;
      if (!all || !LEAVES.includes(event.key) || bar.current?.contains(event.target as Node)) return;
      event.preventDefault();
      bar.current?.querySelector<HTMLElement>('button:not([disabled])')?.focus();
    };
    // Before the console hears it.
    element.addEventListener('keydown', onKey, { capture: true });
    return () => element.removeEventListener('keydown', onKey, { capture: true });
  }, [frame, bar]);
}
