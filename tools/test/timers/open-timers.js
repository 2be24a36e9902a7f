const MAX_FRAMES = 4;
/** Frames of these do not show where a timer was set. */
const PASSED_ON = [
  import.meta.filename,
  '/libs/clock/src/',
  'node:internal',
  '(<anonymous>)',
  'node_modules/jest-circus',
];

/** The places whose timers may stay open, with the reason. This list can only shrink. */
export const MAY_STAY_OPEN = [
  // The browser reads the file after the click, and does not report when it has.
  'apps/web-console/src/shared/ui/save-file.ts',
];

/** The timers that the code of one spec file has set and that have neither fired nor been cleared. */
export class OpenTimers {
  /** Each timer with the place that set it, and what clears it. */
  #timers = new Map();

  /** Replaces the timer functions of a global object. */
  follow(global) {
    for (const kind of ['Timeout', 'Interval']) {
      const [set, clear] = [global[`set${kind}`], global[`clear${kind}`]];
      const followed = (callback, ...args) => {
        const run = (...values) => {
          if (kind === 'Timeout') this.#timers.delete(timer);
          return callback(...values);
        };
        const timer = set.call(global, typeof callback === 'function' ? run : callback, ...args);
        const title = `set${kind} of ${args[0] ?? 0} ms`;
        this.#timers.set(timer, { title, place: new Error(title), clear: () => clear.call(global, timer) });
        return timer;
      };
      // With what `util.promisify` looks for.
      global[`set${kind}`] = Object.defineProperties(followed, Object.getOwnPropertyDescriptors(set));
      global[`clear${kind}`] = (timer) => {
        this.#timers.delete(timer);
        clear.call(global, timer);
      };
    }
  }

  /** Clears those that are open, so that they do not keep the process alive. */
  clear() {
    for (const { clear } of this.#timers.values()) clear();
    this.#timers.clear();
  }

  /** @returns {string[]} a description of each timer that is open */
  list() {
    return [...this.#timers].flatMap(([timer, { title, place }]) => {
      // Node's timers may also be closed by their own methods or by their number.
      if (timer?._destroyed === true) return [];
      const frames = framesOf(place);
      if (frames.some((frame) => MAY_STAY_OPEN.some((file) => frame.includes(file)))) return [];
      return [[title, ...frames.slice(0, MAX_FRAMES)].join('\n      ')];
    });
  }
}

const framesOf = ({ stack = '' }) =>
  stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !PASSED_ON.some((part) => line.includes(part)))
    // Jest would take a line that begins with "at" for one of the error itself.
    .map((line) => line.trim().replace('at', 'by'));
