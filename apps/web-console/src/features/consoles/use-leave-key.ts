import { useEffect, type RefObject } from 'react';

const LEAVE_KEYS = ['Control', 'Alt', 'Shift'];

/**
 * A console captures every key, including Tab. Pressing Ctrl, Alt, and Shift together moves the focus to its toolbar,
 * so that keyboard users can leave the console.
 */
export function useLeaveKey(frame: RefObject<HTMLElement | null>, bar: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      const all = event.ctrlKey && event.altKey && event.shiftKey;
      if (!all || !LEAVE_KEYS.includes(event.key) || bar.current?.contains(event.target as Node)) return;
      event.preventDefault();
      bar.current?.querySelector<HTMLElement>('button:not([disabled])')?.focus();
    };
    // In the capture phase, before the console handles the key.
    element.addEventListener('keydown', onKey, { capture: true });
    return () => element.removeEventListener('keydown', onKey, { capture: true });
  }, [frame, bar]);
}
