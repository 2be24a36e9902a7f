import { useCallback, useState } from 'react';

const PREFIX = 'headgate.';

/** Reads a value from the browser's storage; an unreadable value counts as missing. */
export function recall<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

/** Storage may be full or disabled; then the value lasts as long as the page. */
export function remember(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    return;
  }
}

/** State that survives reloads in this browser. */
export function useRemembered<T>(name: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => recall(name, initial));
  const change = useCallback(
    (next: T) => {
      setValue(next);
      remember(name, next);
    },
    [name],
  );
  return [value, change];
}
