import { setImmediate } from 'node:timers/promises';

/** Reads a value again after each turn of the event loop until it is the wanted one. @returns it */
export async function until<T>(read: () => T, isWanted: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = read();
    if (isWanted(value)) return value;
    await setImmediate();
  }
}
