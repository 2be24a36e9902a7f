import { useEffect, useEffectEvent } from 'react';

/** A guest has all keys that are pressed in its console. */
const CONSOLES = '.xterm, canvas';
const TYPING = `input, textarea, select, [contenteditable="true"], ${CONSOLES}`;

/** Runs a command on a single key press, unless the user is typing or a dialog is open. */
export const useShortcut = (key: string, run: () => void): void =>
  useKeyPress((event) => event.key === key && !event.ctrlKey && !event.metaKey && !event.altKey, TYPING, run);

/** On a keyboard of Apple, Ctrl with a letter edits text. */
const isApple = (): boolean => /^(?:Mac|iP)/.test(navigator.platform);

/** The modifier of a command, as users know it. */
export const commandKey = (): 'Ctrl' | '⌘' => (isApple() ? '⌘' : 'Ctrl');

/** Whether a key is pressed with Ctrl or Cmd alone. */
export const isCommandKey = (
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>,
  key: string,
): boolean =>
  event.key.toLowerCase() === key &&
  !event.altKey &&
  !event.shiftKey &&
  (event.metaKey ? !event.ctrlKey : event.ctrlKey && !isApple());

/** Runs a command on Ctrl or Cmd and a key, even while the user is typing, but not in a console or in a dialog. */
export const useCommandShortcut = (key: string, run: () => void): void =>
  useKeyPress((event) => isCommandKey(event, key), CONSOLES, run);

/** Whether a key is pressed without a modifier, and has no meaning of its own where the user is. */
export const isPlainKey = (event: KeyboardEvent): boolean =>
  !event.ctrlKey && !event.metaKey && !event.altKey && isFree(event, TYPING);

function isFree(event: KeyboardEvent, except: string): boolean {
  if (event.defaultPrevented) return false;
  if (event.target instanceof Element && event.target.closest(except)) return false;
  return !document.querySelector('dialog[open]');
}

/** @param except where the key has another meaning, as a selector */
function useKeyPress(isKey: (event: KeyboardEvent) => boolean, except: string, run: () => void): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (!isKey(event) || !isFree(event, except)) return;
    event.preventDefault();
    run();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
}
