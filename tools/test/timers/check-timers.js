import { setTimeout as sleep } from 'node:timers/promises';
import { OpenTimers } from './open-timers.js';

/**
 * How often connections that were closed are awaited, which makes two seconds. A timer that fires in this time still
 * finds its environment. Turns are counted, since a busy machine may not run this process for longer.
 */
const GRACE_POLLS = 200;
const POLL_MS = 10;
const MAX_SHOWN = 5;

/** Tests with real programs, whose sessions end on their own, and tests of built services. They are not checked yet. */
const UNCHECKED = /\.int\.spec\.ts$|-e2e\/src\//;

/**
 * A test environment that fails a spec file which leaves a timer open: it would fire when the environment is gone.
 * @param Environment the class that it extends
 */
export const checkTimers = (Environment) =>
  class extends Environment {
    #open = new OpenTimers();

    constructor(config, context) {
      super(config, context);
      if (!UNCHECKED.test(context.testPath)) this.#open.follow(this.global);
    }

    async handleTestEvent(event, state) {
      await super.handleTestEvent?.(event, state);
      if (event.name === 'run_finish') state.unhandledErrors.push(...(await this.leftOpen()));
    }

    /** Clears the timers that stay open. @returns {Promise<Error[]>} an error that lists them, if any */
    async leftOpen() {
      for (let polls = 0; this.#open.list().length > 0 && polls < GRACE_POLLS; polls++) await sleep(POLL_MS);
      const open = this.#open.list();
      this.#open.clear();
      return open.length > 0 ? [errorOf(open)] : [];
    }
  };

function errorOf(open) {
  const shown = open.slice(0, MAX_SHOWN).map((timer) => `    ${timer}`);
  const message = `Timers that are open after the last test: ${open.length}. Close the objects that have set them.\n${shown.join('\n')}`;
  // Its own stack shows nothing of the test.
  return Object.assign(new Error(message), { stack: `Error: ${message}` });
}
