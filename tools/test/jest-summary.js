import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Writes the counts of a run to test-results/, where `npm test` adds them up. */
export default class JestSummary {
  constructor(globalConfig) {
    this.folder = join(globalConfig.rootDir, 'test-results');
  }

  onRunComplete(_contexts, results) {
    const skipped = results.testResults.flatMap((file) =>
      file.testResults.filter((test) => test.status === 'pending').map((test) => test.fullName),
    );
    const summary = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped,
    };
    mkdirSync(this.folder, { recursive: true });
    const target = process.env.NX_TASK_TARGET_TARGET ?? 'test';
    writeFileSync(join(this.folder, `${basename(target)}.json`), JSON.stringify(summary));
  }
}
