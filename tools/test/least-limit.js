/**
 * The least time that a test and a hook have. The limits of the spec files were measured on a machine that is not busy,
 * and one that is makes tests slow, not wrong. Only a test that hangs may reach a limit.
 */
export const LEAST_LIMIT_MS = 180_000;

/**
 * A test environment that raises all limits that are lower.
 * @param Environment the class that it extends
 */
export const withLeastLimit = (Environment) =>
  class extends Environment {
    async handleTestEvent(event, state) {
      await super.handleTestEvent?.(event, state);
      if (event.name === 'run_start') state.testTimeout = Math.max(state.testTimeout, LEAST_LIMIT_MS);
      if (event.name === 'hook_start') raise(event.hook);
      if (event.name === 'test_fn_start') raise(event.test);
    }
  };

/** Tests and hooks without a limit of their own have that of the run. */
function raise(limited) {
  if (limited.timeout !== undefined) limited.timeout = Math.max(limited.timeout, LEAST_LIMIT_MS);
}
