import { formatResultsErrors } from 'jest-message-util';
import { nameOf } from './group-file.js';

/** @returns the result of one test without the describe block of its file */
export const withoutFile = (result) => {
  const [file, ...ancestorTitles] = result.ancestorTitles;
  return { ...result, ancestorTitles, fullName: result.fullName.slice(file.length + 1) };
};

/**
 * Splits the result of a group up as if Jest had run each spec file on its own.
 * @param {{ path: string, context: { config: { rootDir: string } } }[]} tests of the group
 * @param result of the group file
 * @param globalConfig of Jest
 * @returns the results in the order of the tests
 */
export function split(tests, result, globalConfig) {
  const byFile = Map.groupBy(result.testResults, ({ ancestorTitles: [file] }) => file);
  let { start } = result.perfStats;
  return tests.map(({ path, context: { config } }, index) => {
    const testResults = (byFile.get(nameOf(config.rootDir, path)) ?? []).map(withoutFile);
    const own = ofFile({ path, testResults, group: result, config, globalConfig, start });
    start = own.perfStats.end;
    // What no file could be blamed for must still fail the run, once.
    return index === 0 ? withRest(own, result, tests) : own;
  });
}

function ofFile({ path, testResults, group, config, globalConfig, start }) {
  const count = (status) => testResults.filter((test) => test.status === status).length;
  const runtime = testResults.reduce((sum, { duration }) => sum + (duration ?? 0), 0);
  const numPendingTests = count('pending');
  return {
    ...group,
    testFilePath: path,
    testResults,
    testExecError: undefined,
    failureMessage: formatResultsErrors(testResults, config, globalConfig, path),
    numPassingTests: count('passed'),
    numFailingTests: count('failed'),
    numPendingTests,
    numTodoTests: count('todo'),
    skipped: testResults.length === numPendingTests,
    perfStats: {
      ...group.perfStats,
      start,
      end: start + runtime,
      runtime,
      slow: runtime / 1000 > config.slowTestThreshold,
    },
    console: undefined,
    ...(testResults.length === 0 && failure('A spec file must contain at least one test.')),
  };
}

const failure = (message) => ({ testExecError: { message, stack: message }, failureMessage: `  ● ${message}\n` });

function withRest(own, group, tests) {
  const { testExecError } = group;
  if (!testExecError) return { ...own, console: group.console };
  const files = tests.map(({ path }) => path).join('\n    ');
  const message = `One of these files, which ran together, has failed outside of its tests:\n    ${files}\n\n`;
  return { ...own, console: group.console, testExecError, failureMessage: `${message}${group.failureMessage}` };
}
