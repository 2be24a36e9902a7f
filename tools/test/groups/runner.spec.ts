import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'groups-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly ancestorTitles: readonly string[];
      readonly status: string;
    }[];
  }[];
}

/** Runs a project of these spec files in Jest, on one worker. */
function run(files: Record<string, string>, ...args: string[]): Report & { readonly status: number | null } {
  mkdirSync(join(folder, 'src'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const config = {
    runner: join(import.meta.dirname, 'runner.js'),
    testEnvironment: join(import.meta.dirname, '../timers/node-environment.js'),
    testMatch: ['<rootDir>/src/**/*.spec.js'],
    cacheDirectory: join(folder, 'cache'),
    transform: {},
  };
  writeFileSync(join(folder, 'jest.config.js'), `export default ${JSON.stringify(config)};`);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'src', name), text);
  const report = join(folder, 'report.json');
  const { status } = spawnSync(
    process.execPath,
    ['--experimental-vm-modules', JEST, '--rootDir', folder, '-i', '--json', '--outputFile', report, ...args],
    {
      cwd: folder,
      encoding: 'utf8',
      timeout: 60_000,
      env: { ...process.env, NODE_OPTIONS: '', FORCE_COLOR: '0', HOME: folder },
    },
  );
  return { status, ...(JSON.parse(readFileSync(report, 'utf8')) as Report) };
}

const resultOf = ({ testResults }: Report, name: string): Report['testResults'][number] => {
  const found = testResults.filter((result) => result.name === join(folder, 'src', name));
  expect(found).toHaveLength(1);
  return found[0] as Report['testResults'][number];
};

/** A module that counts how often it is loaded, in a file, since the registries share nothing else. */
const COUNTED = `import { appendFileSync } from 'node:fs';\nappendFileSync('loaded', 'x');\n`;
const loads = (): number => readFileSync(join(folder, 'loaded'), 'utf8').length;
const usesCounted = (name: string): string => `import './counted.js';\ntest('${name}', () => undefined);\n`;

test('the files of a group load a module once, and each has its own result', () => {
  const report = run({
    'counted.js': COUNTED,
    'a.spec.js': `${usesCounted('one')}describe('inner', () => test('two', () => undefined));`,
    'b.spec.js': usesCounted('three'),
  });
  expect([report.status, report.numPassedTests, loads()]).toEqual([0, 3, 1]);
  const names = resultOf(report, 'a.spec.js').assertionResults.map(({ fullName, ancestorTitles }) => [
    fullName,
    ancestorTitles,
  ]);
  expect(names).toEqual([
    ['one', []],
    ['inner two', ['inner']],
  ]);
  expect(resultOf(report, 'b.spec.js').assertionResults.map(({ fullName }) => fullName)).toEqual(['three']);
});

test.each([
  ['fakes timers', 'jest.useFakeTimers(); jest.useRealTimers();'],
  ['sets an environment variable', "process.env['A'] = ''; delete process.env['A'];"],
  ['sets a global', 'const kept = globalThis.fetch; globalThis.fetch = kept;'],
  ['listens to signals', "process.once('SIGUSR2', () => undefined);"],
])('a file that %s runs alone', (_title, line) => {
  const alone = `import { jest } from '@jest/globals';\n${usesCounted('alone')}test('x', () => { ${line} });`;
  const report = run({
    'counted.js': COUNTED,
    'a.spec.js': alone,
    'b.spec.js': usesCounted('b'),
    'c.spec.js': usesCounted('c'),
  });
  expect([report.status, report.numPassedTests, loads()]).toEqual([0, 4, 2]);
});

test('a failure names its file, and the others pass', () => {
  const report = run({
    'a.spec.js': "test('fits', () => undefined);",
    'b.spec.js': "describe('sums', () => test('adds', () => expect(1 + 1).toBe(3)));",
    'c.spec.js': "test('fits', () => undefined);",
  });
  expect([report.status, report.numPassedTests, report.numFailedTests]).toEqual([1, 2, 1]);
  const { status, message } = resultOf(report, 'b.spec.js');
  expect([status, message]).toEqual(['failed', expect.stringMatching(/● sums › adds[^]*src\/b\.spec\.js:1/)]);
  expect(['a.spec.js', 'c.spec.js'].map((name) => resultOf(report, name).status)).toEqual(['passed', 'passed']);
});

test.each([
  ['cannot be loaded', "import './missing.js';\ntest('x', () => undefined);", /Cannot find module '\.\/missing\.js'/],
  ['throws while it is loaded', "throw new Error('broken');", /can be loaded[^]*broken/],
  ['has no tests', '', /must contain at least one test/],
  ['leaves a timer open', "test('x', () => void setTimeout(() => undefined, 60_000));", /Timers that are open/],
  [
    'leaves a global changed',
    "import { setTo } from './set-to.js';\ntest('x', () => setTo('fetch', 1));",
    /leaves these changed to the files after it: fetch/,
  ],
  [
    'leaves a variable behind that it sets while it is loaded',
    "import { setVariable } from './set-to.js';\nsetVariable();\ntest('x', () => undefined);",
    /can be loaded[^]*leaves these changed to the files after it: process\.env\.LEFT/,
  ],
  [
    'imports a module with hooks of its own',
    "import './hooks.js';\ntest('x', () => undefined);",
    /can be loaded[^]*calls afterEach while it is loaded[^]*hooks\.js/,
  ],
])('a file that %s fails, and the others pass', (_title, text, reason) => {
  const helper =
    "export const setTo = (name, value) => void (globalThis[name] = value);\nexport const setVariable = () => void (process.env.LEFT = '1');\n";
  const report = run({
    'set-to.js': helper,
    'hooks.js': 'afterEach(() => undefined);\nexport const useHooks = () => beforeEach(() => undefined);',
    'a.spec.js': "test('fits', () => undefined);",
    'b.spec.js': text,
    'c.spec.js': "test('fits', () => undefined);",
  });
  expect(report.status).toBe(1);
  const { status, message } = resultOf(report, 'b.spec.js');
  expect([status, message]).toEqual(['failed', expect.stringMatching(reason)]);
  expect(['a.spec.js', 'c.spec.js'].map((name) => resultOf(report, name).status)).toEqual(['passed', 'passed']);
});

test('hooks and spies of a file do not reach the next', () => {
  const report = run({
    'shared.js': 'export const shared = { value: () => 1 };',
    'a.spec.js': `import { jest } from '@jest/globals';
      import { shared } from './shared.js';
      let calls = 0;
      beforeEach(() => void (calls += 1));
      afterAll(() => { if (calls !== 1) throw new Error(String(calls)); });
      test('spies', () => { jest.spyOn(shared, 'value').mockReturnValue(2); expect(shared.value()).toBe(2); });`,
    'b.spec.js': `import { shared } from './shared.js';
      test('has the real one', () => expect(shared.value()).toBe(1));`,
  });
  expect([report.status, report.numPassedTests]).toEqual([0, 2]);
});

test('a helper may add hooks to each file that calls it', () => {
  const helper = 'export const calls = { of: 0 };\nexport const count = () => beforeEach(() => void (calls.of += 1));';
  const text = (expected: number): string =>
    `import { calls, count } from './count.js';\ncount();\ntest('x', () => expect(calls.of).toBe(${expected}));`;
  const report = run({ 'count.js': helper, 'a.spec.js': text(1), 'b.spec.js': text(2) });
  expect([report.status, report.numPassedTests]).toEqual([0, 2]);
});

test('one file by its path, and tests by their names, run without a group', () => {
  const files = {
    'a.spec.js': "test('first', () => undefined);\ntest('second', () => undefined);",
    'b.spec.js': "test('second', () => undefined);",
  };
  expect(run(files, 'src/a.spec.js')).toMatchObject({ status: 0, numPassedTests: 2 });
  expect(run(files, '-t', '^second$')).toMatchObject({ status: 0, numPassedTests: 2 });
});
