import { useCallback, useEffect, useState } from 'react';

const PREFIX = 'headgate.';

/** Everything on this page that shows a remembered value, by its name. */
const watchers = new Map<string, Set<(value: unknown) => void>>();

/** Reads a value from the browser's storage; an unreadable value counts as missing. */
export function recall<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

/**
 * Keeps a value in this browser, and shows it wherever `useRemembered` has its name. Storage may be full or disabled;
 * then the value lasts as long as the page.
 */
export function remember(name: string, value: unknown): void {
  for (const watcher of watchers.get(name) ?? []) watcher(value);
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    return;
  }
}

/** State that survives reloads in this browser, the same for all components that use its name. */
export function useRemembered<T>(name: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => recall(name, initial));
  useEffect(() => {
    const watcher = (next: unknown): void => setValue(next as T);
    const others = watchers.get(name) ?? new Set();
    watchers.set(name, others.add(watcher));
    return () => void others.delete(watcher);
  }, [name]);
  const change = useCallback((next: T) => remember(name, next), [name]);
  return [value, change];
}
