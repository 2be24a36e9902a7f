import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');

/** Each test starts a Jest of its own. */
const TIMEOUT_MS = 120_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'open-timers-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs a file with one test in Jest. @returns its exit status and what Jest prints */
function run(body: string, environment = 'node'): { status: number | null; output: string } {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const testEnvironment = join(import.meta.dirname, `${environment}-environment.js`);
  writeFileSync(
    join(folder, 'jest.config.js'),
    `export default ${JSON.stringify({ testEnvironment, transform: {} })};`,
  );
  writeFileSync(join(folder, 'one.test.js'), `test('passes', async () => {\n${body}\n});\n`);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--experimental-vm-modules', JEST, '--rootDir', folder],
    {
      cwd: folder,
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
      env: { ...process.env, NODE_OPTIONS: '', FORCE_COLOR: '0', HOME: folder },
    },
  );
  return { status, output: stdout + stderr };
}

describe.each(['node', 'jsdom'])('in the environment %s, a spec file', (environment) => {
  test(
    'fails when it leaves a timeout or an interval open',
    () => {
      const { status, output } = run(
        'setTimeout(() => undefined, 60_000);\nsetInterval(() => undefined, 50);',
        environment,
      );
      expect(status).toBe(1);
      expect(output).toContain('Timers that are open after the last test: 2.');
      expect(output).toMatch(/setTimeout of 60000 ms\s+by .*one\.test\.js:2/);
      expect(output).toMatch(/setInterval of 50 ms\s+by .*one\.test\.js:3/);
      expect(output).toMatch(/Tests: +1 passed, 1 total/);
    },
    TIMEOUT_MS,
  );

  test(
    'passes when its timers have fired or were cleared',
    () => {
      const { status, output } = run(
        [
          'clearTimeout(setTimeout(() => undefined, 60_000));',
          'const interval = setInterval(() => clearInterval(interval), 1);',
          'await new Promise((resolve) => setTimeout(resolve, 5));',
          'setTimeout(() => undefined, 20);',
        ].join('\n'),
        environment,
      );
      expect([status, output]).toEqual([0, expect.stringContaining('1 passed, 1 total')]);
    },
    TIMEOUT_MS,
  );
});

describe('a spec file', () => {
  test(
    'passes when a busy machine did not run it while its last timers were due',
    () => {
      const body = [
        'const isDue = Date.now() + 2_500;',
        'setTimeout(() => { while (Date.now() < isDue); }, 1);',
        'setTimeout(() => undefined, 50);',
      ];
      const { status, output } = run(body.join('\n'));
      expect([status, output]).toEqual([0, expect.stringContaining('1 passed, 1 total')]);
    },
    TIMEOUT_MS,
  );

  test(
    'fails when it leaves a timer open that does not keep the process alive',
    () => {
      expect(run('setTimeout(() => undefined, 60_000).unref();').status).toBe(1);
    },
    TIMEOUT_MS,
  );

  test(
    'passes when a timer was closed in one of the ways of Node',
    () => {
      const body = [
        'clearTimeout(+setTimeout(() => undefined, 60_000));',
        'setTimeout(() => undefined, 60_000).close();',
        'setInterval(() => undefined, 60_000)[Symbol.dispose]();',
        "await (await import('node:util')).promisify(setTimeout)(1);",
      ];
      expect(run(body.join('\n')).status).toBe(0);
    },
    TIMEOUT_MS,
  );
});

test('every project uses the rule', () => {
  const { stdout } = spawnSync('git', ['ls-files', '*jest.config.js', '*jest.int.config.js'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const configs = stdout.trim().split('\n');
  expect(configs.length).toBeGreaterThan(35);
  return Promise.all(
    configs.map(async (file) => {
      const { default: config } = (await import(join(ROOT, file))) as {
        default: { preset?: string; testEnvironment?: string };
      };
      const environment =
        config.testEnvironment ?? (config.preset?.endsWith('jest.preset.js') ? 'by preset' : undefined);
      expect([file, environment]).toEqual([file, expect.stringMatching(/by preset|tools\/test\/timers\//)]);
    }),
  );
});
