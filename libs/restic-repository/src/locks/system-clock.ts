import type { RepositoryClock } from '../model/types.js';

/** The time of the system. */
export const systemClock: RepositoryClock = {
  now: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
