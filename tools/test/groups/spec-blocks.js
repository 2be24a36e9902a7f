import { LOAD } from './group-file.js';

/** Globals that a file could leave changed to the files after it. */
const WATCHED = [
  'fetch',
  'Date',
  'Math',
  'performance',
  'crypto',
  'WebSocket',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'queueMicrotask',
];

/**
 * A test environment in which one module loads several spec files, each into a describe block of its own. What a file
 * leaves behind fails that file.
 * @param Environment the class that it extends, with the method `leftOpen`
 */
export const inBlocks = (Environment) =>
  class extends Environment {
    #state;
    #blocks = new Set();
    #before = new Map();
    /** The file that is loaded now, and its first error so far. */
    #loading;

    constructor(config, context) {
      super(config, context);
      this.global[LOAD] = (name, load, jest) => this.#load(name, load, jest);
    }

    /** Loads a file between the start and the end of its describe block, which Jest allows synchronous code only. */
    async #load(name, load, jest) {
      const { describe, test, afterAll } = this.global;
      const root = this.#state.currentDescribeBlock;
      describe(name, () => void this.#blocks.add(this.#state.currentDescribeBlock));
      this.#state.currentDescribeBlock = root.children.at(-1);
      const before = this.#globals();
      const loading = (this.#loading = { name, error: undefined });
      try {
        await load();
        const error = loading.error ?? this.#changedSince(before);
        if (error) throw error;
      } catch (error) {
        test('can be loaded', () => {
          throw error;
        });
      }
      this.#loading = undefined;
      if (this.#state.currentDescribeBlock.children.length > 0) afterAll(() => void jest.restoreAllMocks());
      this.#state.currentDescribeBlock = root;
    }

    async handleTestEvent(event, state) {
      this.#state = state;
      if (event.name === 'add_hook' && this.#loading) this.#checkHook(event, this.#loading);
      await super.handleTestEvent?.(event, state);
      if (!this.#blocks.has(event.describeBlock)) return;
      if (event.name === 'run_describe_start') this.#before.set(event.describeBlock, this.#globals());
      if (event.name === 'run_describe_finish') await this.#finish(event.describeBlock, state);
    }

    /** A module is loaded by the first file that imports it, so that only that file would get its hooks. */
    #checkHook({ hookType, asyncError }, loading) {
      if (asyncError.stack.includes(loading.name)) return;
      const message = `A module that the file imports calls ${hookType} while it is loaded. Export a function that calls it, and call that in each spec file.`;
      loading.error ??= Object.assign(new Error(message), {
        stack: asyncError.stack.replace(/^.*/, `Error: ${message}`),
      });
    }

    async #finish(block, state) {
      const changed = this.#changedSince(this.#before.get(block));
      const errors = [...state.unhandledErrors.splice(0), ...(await this.leftOpen()), ...(changed ? [changed] : [])];
      if (errors.length > 0) block.children.push({ ...failedTest(block), errors });
    }

    #globals() {
      const { global } = this;
      return new Map([
        ...WATCHED.map((name) => [name, global[name]]),
        ...Object.entries(global.process.env).map(([name, value]) => [`process.env.${name}`, value]),
      ]);
    }

    #changedSince(before) {
      const after = this.#globals();
      const names = new Set([...before.keys(), ...after.keys()]);
      const changed = [...names].filter((name) => before.get(name) !== after.get(name));
      if (changed.length === 0) return undefined;
      const message = `The file leaves these changed to the files after it: ${changed.join(', ')}. Put them back after each test, or let tools/test/groups/divide.js run the file alone.`;
      return Object.assign(new Error(message), { stack: `Error: ${message}` });
    }
  };

/** A test that has run, for a fault of a file rather than of one of its tests. */
const failedTest = (parent) => ({
  type: 'test',
  name: 'leaves nothing behind',
  parent,
  status: 'done',
  asyncError: new Error(),
  duration: 0,
  invocations: 1,
  numPassingAsserts: 0,
  retryReasons: [],
  unhandledRejectionErrorByPromise: new Map(),
});
