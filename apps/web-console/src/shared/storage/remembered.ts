import { useCallback, useState } from 'react';

const PREFIX = 'headgate.';

/** Reads what this browser remembers; anything unreadable counts as nothing. */
export function recall<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

/** Storage may be full or forbidden; then the choice lasts as long as the page. */
export function remember(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    return;
  }
}

/** State that this browser keeps over reloads. */
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
