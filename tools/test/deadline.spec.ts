import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deadlineMs, skippedOf } from './deadline.js';

const root = join(import.meta.dirname, '../..');

test('the deadline is in seconds, and without one no file is late', () => {
  expect(deadlineMs({ HEADGATE_TEST_DEADLINE: '1700000000' })).toBe(1_700_000_000_000);
  for (const text of [undefined, '', 'soon', '0']) expect(deadlineMs({ HEADGATE_TEST_DEADLINE: text })).toBe(Infinity);
});

test('a file that began too late is one line, skipped tests of others are listed', () => {
  const pending = ['a', 'b'].map((fullName) => ({ fullName, status: 'pending' }));
  const file = { testResults: pending, perfStats: { start: 2_000 } };
  expect(skippedOf(file, 'src/a.spec.ts', 1_000)).toEqual(['src/a.spec.ts: 2 tests, because the time was up']);
  expect(skippedOf(file, 'src/a.spec.ts', Infinity)).toEqual(['a', 'b']);
  const mixed = { ...file, testResults: [...pending, { fullName: 'c', status: 'passed' }] };
  expect(skippedOf(mixed, 'src/a.spec.ts', 1_000)).toEqual(['a', 'b']);
});

describe('a spec file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-deadline-'));
    const hook = (name: string) => `${name}(() => { throw new Error('${name} must not run'); });`;
    const spec = `${hook('beforeAll')} ${hook('afterAll')}
test('one', () => {}); describe('more', () => { ${hook('beforeEach')} test('two', () => {}); });`;
    writeFileSync(join(folder, 'late.spec.js'), spec);
    writeFileSync(
      join(folder, 'jest.config.mjs'),
      `export default { rootDir: ${JSON.stringify(folder)}, testMatch: ['<rootDir>/*.spec.js'], transform: {}, testEnvironment: ${JSON.stringify(join(root, 'tools/test/timers/node-environment.js'))} };`,
    );
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const run = async (deadline: number) => {
    const args = [join(root, 'node_modules/jest/bin/jest.js'), '-c', join(folder, 'jest.config.mjs'), '--json'];
    const env = {
      ...process.env,
      NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
      HEADGATE_TEST_DEADLINE: String(deadline),
    };
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env }).catch(
      (error: { stdout: string }) => error,
    );
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(stdout) as Record<string, number>;
    return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests };
  };

  test('that begins after the deadline skips its tests and hooks', async () => {
    expect(await run(Date.now() / 1000 - 1)).toEqual({ passed: 0, failed: 0, skipped: 2 });
  });

  test('that begins before it runs them', async () => {
    expect(await run(Date.now() / 1000 + 600)).toMatchObject({ passed: 0, failed: 2 });
  });
});
