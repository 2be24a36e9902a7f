import { useEffect, useEffectEvent, useRef } from 'react';
import { useLocation } from 'wouter';
import { isPlainKey } from '../../../shared/ui/use-shortcut.js';
import { usePages, type PageLink } from '../use-pages.js';

/** The second letter by page. */
const LETTERS: Readonly<Partial<Record<string, PageLink['name']>>> = {
  m: 'machines',
  c: 'containers',
  n: 'nodes',
  s: 'storage',
  w: 'networks',
  i: 'images',
  a: 'activity',
  h: 'health',
};
/** How long the first letter waits for the second. */
const PATIENCE_MS = 1500;

/** G and then a letter goes to a page. The second letter has no other meaning then, such as shutting down a VM. */
export function GoKeys() {
  const [, navigate] = useLocation();
  const pages = usePages();
  const begun = useRef(-Infinity);
  const onKey = useEffectEvent((event: KeyboardEvent): void => {
    if (!isPlainKey(event)) return;
    if (event.timeStamp - begun.current > PATIENCE_MS) {
      if (event.key === 'g') begun.current = event.timeStamp;
      return;
    }
    begun.current = -Infinity;
    const page = pages.find(({ name }) => name === LETTERS[event.key]);
    if (!page) return;
    event.preventDefault();
    event.stopPropagation();
    navigate(page.href);
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    // Before the listeners of the page that the letter also has a meaning for.
    document.addEventListener('keydown', listener, true);
    return () => document.removeEventListener('keydown', listener, true);
  }, []);
  return null;
}
