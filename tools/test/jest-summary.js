import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { skippedOf } from './deadline.js';

/** How long Jest may take to exit after its last test. */
const EXIT_TIMEOUT_MS = 60_000;
/** How much of a failure is repeated at the end of `npm test`. */
const MAX_MESSAGE_CHARACTERS = 1500;

/** The message without the calls of libraries. */
const firstMessage = (message = '') =>
  stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => !/^ +at .*node_modules/.test(line))
    .join('\n')
    .slice(0, MAX_MESSAGE_CHARACTERS);

/**
 * Writes the counts of a run to test-results/, where `npm test` adds them up. Fails a run that does not exit, because a
 * test left a process or a connection open: Jest would wait for it forever.
 */
export default class JestSummary {
  constructor(globalConfig) {
    this.root = globalConfig.rootDir;
    this.folder = join(this.root, 'test-results');
    this.isWatching = globalConfig.watch || globalConfig.watchAll;
  }

  onRunComplete(_contexts, results) {
    const tests = (status) =>
      results.testResults.flatMap((file) => file.testResults.filter((test) => test.status === status));
    // A file that throws while it is loaded, or in between its tests.
    const broken = results.testResults.filter(({ testExecError }) => testExecError);
    const failures = [
      ...tests('failed').map(({ fullName, failureMessages: [message] }) => ({
        title: fullName,
        message: firstMessage(message),
      })),
      ...broken.map(({ testFilePath, testExecError }) => ({
        title: `${relative(this.root, testFilePath)} can't be run`,
        message: firstMessage(testExecError.message),
      })),
    ];
    const summary = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      failures,
      skipped: results.testResults.flatMap((file) => skippedOf(file, relative(this.root, file.testFilePath))),
      files: results.testResults.map(({ testFilePath, perfStats }) => ({
        path: relative(this.root, testFilePath),
        seconds: Math.round((perfStats?.runtime ?? 0) / 1000),
      })),
    };
    mkdirSync(this.folder, { recursive: true });
    const target = process.env.NX_TASK_TARGET_TARGET ?? 'test';
    writeFileSync(join(this.folder, `${basename(target)}.json`), JSON.stringify(summary));
    if (!this.isWatching) setTimeout(() => this.giveUp(), EXIT_TIMEOUT_MS).unref();
  }

  giveUp() {
    process.stderr.write(
      `Jest did not exit ${EXIT_TIMEOUT_MS / 1000} s after the last test. Open: ${process.getActiveResourcesInfo().join(', ')}\n`,
    );
    process.exit(1);
  }
}
