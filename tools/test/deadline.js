/**
 * When no further spec file may begin, in seconds since the epoch, from HEADGATE_TEST_DEADLINE. CI sets it: a machine
 * that is several times slower than usual reports the results that it has, and lists the files it had no time for.
 * @returns {number} Infinity without it
 */
export const deadlineMs = (env = process.env) => {
  const seconds = Number(env.HEADGATE_TEST_DEADLINE);
  return seconds > 0 ? seconds * 1000 : Infinity;
};

/**
 * A test environment that skips all tests of a spec file that begins after the deadline, with its hooks.
 * @param Environment the class that it extends
 */
export const skipLate = (Environment) =>
  class extends Environment {
    async handleTestEvent(event, state) {
      if (event.name === 'run_start' && Date.now() > deadlineMs()) skipAll(state.rootDescribeBlock);
      await super.handleTestEvent?.(event, state);
    }
  };

function skipAll({ children }) {
  for (const child of children) {
    if (child.type === 'describeBlock') skipAll(child);
    else child.mode = 'skip';
  }
}

/**
 * The titles of the tests that were skipped; one line for a file that began too late.
 * @param {{ testResults: { fullName: string, status: string }[], perfStats?: { start: number } }} file
 * @param {string} path of the file
 * @returns {string[]}
 */
export function skippedOf({ testResults, perfStats }, path, deadline = deadlineMs()) {
  const skipped = testResults.filter(({ status }) => status === 'pending');
  const isLate = skipped.length > 0 && skipped.length === testResults.length && (perfStats?.start ?? 0) > deadline;
  if (isLate) return [`${path}: ${skipped.length} tests, because the time was up`];
  return skipped.map(({ fullName }) => fullName);
}
