import type { Clock } from '@headgate/domain-contracts';

/** An image that is built on this machine. */
export interface LocalImage {
  readonly path: () => Promise<string>;
  /** Whether the image exists already; if not, the build is started. */
  readonly isBuilt: () => Promise<boolean>;
}

/** Time in which an existing image is found. */
const CACHE_LOOKUP_MS = 2000;

/** Shares one build among concurrent callers. */
export function sharedBuild(build: () => Promise<string>, clock: Clock): LocalImage {
  let building: Promise<string> | undefined;
  const path = (): Promise<string> => {
    building ??= build().finally(() => (building = undefined));
    return building;
  };
  return {
    path,
    isBuilt: () =>
      new Promise((resolve) => {
        const cancelTimeout = clock.after(CACHE_LOOKUP_MS, () => resolve(false));
        const finish = (): void => {
          cancelTimeout();
          resolve(true);
        };
        // A failed build counts as finished: the caller gets its error from path().
        path().then(finish, finish);
      }),
  };
}
