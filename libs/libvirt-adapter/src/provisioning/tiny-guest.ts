import type { Clock } from '@headgate/domain-contracts';

/** The image that is built on the spot. */
export interface TinyGuest {
  readonly path: () => Promise<string>;
  /** Whether it can be had at once; when not, its building has begun. */
  readonly isBuilt: () => Promise<boolean>;
}

/** One that was built before is found within this many milliseconds. */
const AT_ONCE_MS = 2000;

/** Builds it once for all who ask at the same time. */
export function onceBuilt(build: () => Promise<string>, clock: Clock): TinyGuest {
  let building: Promise<string> | undefined;
  const path = (): Promise<string> => {
    building ??= build().finally(() => (building = undefined));
    return building;
  };
  return {
    path,
    isBuilt: () =>
      new Promise((resolve) => {
        const giveUp = clock.after(AT_ONCE_MS, () => resolve(false));
        const decided = (): void => {
          giveUp();
          resolve(true);
        };
        // A failure is there at once too: whoever asks for the path is told.
        path().then(decided, decided);
      }),
  };
}
