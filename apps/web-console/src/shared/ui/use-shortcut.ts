import { useEffect, useEffectEvent } from 'react';

const TYPING = 'input, textarea, select, [contenteditable="true"], .xterm, canvas';

/** Runs a command on a single key press, unless the user is typing or a dialog is open. */
export function useShortcut(key: string, run: () => void): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target instanceof Element && event.target.closest(TYPING)) return;
    if (document.querySelector('dialog[open]')) return;
    event.preventDefault();
    run();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
}
