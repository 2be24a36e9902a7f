import { compileQuery } from './compile-query.js';
import type { ListedInstance } from './listed-instance.js';
import { parseQuery } from './parse-query.js';
import { buildEntry, reader } from './testing/build-entry.js';

const entries: readonly ListedInstance[] = [
  buildEntry({
    name: 'web-1',
    folder: 'web',
    tags: ['prod', 'linux'],
    ip: '10.0.0.7',
    agentConnected: true,
    os: 'Debian 12',
  }),
  buildEntry({
    name: 'web-2',
    folder: 'web/eu',
    tags: ['prod'],
    context: 'other',
    mem: '8Gi',
    node: 'node-9',
    cpu: 8,
    os: 'debian12',
    startedAt: '2026-02-01T10:00:00Z',
  }),
  buildEntry({ name: 'db-1', status: 'Stopped', running: false, isTemplate: true, createdAt: '2026-01-31T10:00:00Z' }),
  buildEntry({ name: 'שרת-1', status: 'Paused', ip: 'fd00::1', reason: 'Not enough memory.', folder: 'webshop' }),
  {
    ref: 'ct/lab/shop/box',
    name: 'box',
    namespace: 'shop',
    context: 'lab',
    backend: 'kubevirt',
    phase: 'Running',
    ready: false,
    image: 'docker.io/library/fedora:40',
    cpu: 1,
    mem: '512Mi',
    tags: [],
    node: '',
  },
];

const found = (text: string): string[] =>
  entries.filter(compileQuery(parseQuery(text), reader)).map(({ name }) => name);

test.each<[string, string[]]>([
  ['', ['web-1', 'web-2', 'db-1', 'שרת-1', 'box']],
  ['WEB', ['web-1', 'web-2']],
  ['web linux', ['web-1']],
  ['fedora:40', ['box']],
  ['fd00::1', ['שרת-1']],
  ['שרת', ['שרת-1']],
  ['name:שרת*', ['שרת-1']],
  ['status:RUNNING', ['web-1', 'web-2', 'box']],
  ['status:stopped,paused', ['db-1', 'שרת-1']],
  ['status:*ed', ['db-1', 'שרת-1']],
  ['tag:prod', ['web-1', 'web-2']],
  ['tag:prod tag:linux', ['web-1']],
  ['not:tag:prod', ['db-1', 'שרת-1', 'box']],
  ['tag:""', ['db-1', 'שרת-1', 'box']],
  ['tag:*', ['web-1', 'web-2']],
  ['node:*', ['web-2']],
  ['node:""', ['web-1', 'db-1', 'שרת-1', 'box']],
  ['folder:web', ['web-1']],
  ['folder:web/*', ['web-1', 'web-2']],
  ['folder:web*', ['web-1', 'web-2', 'שרת-1']],
  ['ip:10.0.*', ['web-1']],
  ['ip:fd00::1', ['שרת-1']],
  ['reason:"*enough mem*"', ['שרת-1']],
  ['image:*fedora*', ['box']],
  ['kind:ct', ['box']],
  ['kind:container', ['box']],
  ['kind:vm -web', ['db-1', 'שרת-1']],
  ['mem>4Gi', ['web-2']],
  ['mem>=4G', ['web-1', 'web-2', 'db-1', 'שרת-1']],
  ['mem:"512 MiB","8 gib"', ['web-2', 'box']],
  ['mem<536870913', ['box']],
  ['cpu=1,8', ['web-2', 'box']],
  ['disk>0', ['web-1', 'web-2', 'db-1', 'שרת-1']],
  ['created:2026-01-31', ['db-1']],
  ['created>2026-01-31', []],
  ['created>=2026-01-31', ['db-1']],
  ['created<=2026-01-31', ['db-1']],
  ['created<2026-01-31T10:00Z', []],
  ['os:debian', ['web-1', 'web-2']],
  ['os:"debian 12"', ['web-1']],
  ['os:""', ['db-1', 'שרת-1', 'box']],
  ['started>2026-01-31', ['web-2']],
  ['startedAt<2026-02-01T10:00Z', []],
  ['is:agent', ['web-1']],
  ['is:agent,template', ['web-1', 'db-1']],
  ['not:agent kind:vm', ['web-2', 'db-1', 'שרת-1']],
  ['is:running not:ready', ['box']],
  ['-is:running', ['db-1']],
])('"%s" finds %j', (text, expected) => expect(found(text)).toEqual(expected));

test('a pattern with many wildcards takes no longer than the text is long', () => {
  const text = 'a'.repeat(200_000);
  const test = compileQuery(parseQuery(`name:${'*a'.repeat(500)}b`), reader);
  const indexes = countSearches(() => expect(test(buildEntry({ name: text }))).toBe(false));
  expect(indexes).toBeLessThan(1000);
  expect(compileQuery(parseQuery(`name:${'*a'.repeat(500)}*`), reader)(buildEntry({ name: text }))).toBe(true);
});

/** The number of searches for a part, each of which begins where the last one ended. */
function countSearches(run: () => void): number {
  const { indexOf } = String.prototype;
  let calls = 0;
  String.prototype.indexOf = function (this: string, ...args: [string, number?]) {
    calls++;
    return indexOf.apply(this, args);
  };
  try {
    run();
  } finally {
    String.prototype.indexOf = indexOf;
  }
  return calls;
}
