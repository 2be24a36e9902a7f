import { join } from 'node:path';
import { commonFolders, toOneByteSource } from './vite.node.js';

const evaluate = (source: string): unknown => new Function(`return ${source}`)();

test.each([
  ["'a \u2026 b'", 'a \u2026 b'],
  ['`\u{1F600} ${1 + 1}`', '\u{1F600} 2'],
  ["/^[\u0410-\u042F]$/i.test('\u044F')", true],
  ["/^\u{1F600}$/u.test('\u{1F600}')", true],
  ["({ \u043F\u0443\u0442\u044C: 7 })['\u043F\u0443\u0442\u044C']", 7],
  ["'caf\u00E9' /* \u2026 */", 'caf\u00E9'],
])('a source of Latin-1 means the same: %s', (source, expected) => {
  const converted = toOneByteSource(source);
  expect(converted).toMatch(/^[\x00-\xff]*$/);
  expect(evaluate(converted)).toEqual(expected);
  expect(evaluate(source)).toEqual(expected);
});

test('copies of one version share the first installed folder, other versions and names do not', () => {
  const lockfile = {
    packages: {
      '': { version: '0.1.0' },
      'apps/one': { version: '0.1.0' },
      'libs/a/node_modules/yaml': { version: '2.9.1' },
      'libs/b/node_modules/yaml': { version: '2.9.1' },
      'libs/c/node_modules/yaml': { version: '2.9.1' },
      'node_modules/@scope/yaml': { version: '2.9.1' },
      'node_modules/linked': {},
      'node_modules/yaml': { version: '1.10.3' },
    },
  };
  const root = join(import.meta.dirname, '..');
  const folders = commonFolders(lockfile, (path) => path !== 'libs/a/node_modules/yaml');
  const paths = [...folders].map((pair) => pair.map((folder) => folder.replace(`${root}/`, '')));
  expect(paths).toEqual([
    ['libs/b/node_modules/yaml', 'libs/b/node_modules/yaml'],
    ['libs/c/node_modules/yaml', 'libs/b/node_modules/yaml'],
    ['node_modules/@scope/yaml', 'node_modules/@scope/yaml'],
    ['node_modules/yaml', 'node_modules/yaml'],
  ]);
});
