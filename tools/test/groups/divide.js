import { readFileSync } from 'node:fs';

/**
 * Spec files that share one module registry. Each has its share of the time in which Nest, class-validator and the
 * Kubernetes client are loaded. Larger groups save little more, and leave nothing to do for the second worker.
 */
const GROUP_SIZE = 8;

/** These work with real programs and built services: they load little, and some of them take minutes. */
const ALONE_BY_PATH = /\.(int|stress)\.spec\.ts$|-e2e\/src\//;

/** Changes that outlast a file: of timers, of the environment, of globals, and of the prototypes of others. */
const ALONE_BY_TEXT = [
  /useFakeTimers|unstable_mockModule|resetModules/,
  /process\.env(\.\w+|\[[^\]]+\]) *(\?\?)?=[^=]/,
  /delete process\.env/,
  /process\.(on|once|chdir)\(/,
  /globalThis(\.\w+|\[[^\]]+\]) *=[^=>]/,
  /Object\.(assign|defineProperty|defineProperties)\((globalThis|global|window|document|navigator|process)\b/,
  /\.prototype\.\w+ *=[^=]/,
];

/**
 * The groups depend on the paths and texts alone, never on durations: each run forms the same ones.
 * @template {{ path: string }} Test
 * @param {Test[]} tests of one project
 * @param {(path: string) => string} read the text of a file
 * @param {number} workers how many groups can run at the same time
 * @returns {Test[][]}
 */
export function divide(tests, { workers = 1, read = (path) => readFileSync(path, 'utf8') } = {}) {
  const alone = [];
  const together = [];
  for (const test of tests) (isAlone(test.path, read) ? alone : together).push(test);
  together.sort((a, b) => (a.path < b.path ? -1 : 1));
  const size = Math.min(GROUP_SIZE, Math.ceil(together.length / workers));
  const groups = [];
  for (let first = 0; first < together.length; first += size) groups.push(together.slice(first, first + size));
  return [...groups, ...alone.map((test) => [test])];
}

function isAlone(path, read) {
  if (ALONE_BY_PATH.test(path)) return true;
  const text = read(path);
  return ALONE_BY_TEXT.some((pattern) => pattern.test(text));
}
