import { type BoundedOperation, boundedOperations } from './bounded-operations.js';
import { PathTable } from './path-table.js';

const V = '(?:api/v1|r0|v3|unstable)';

/** Bounded operations of a server that matches the raw path against patterns, two of them open-ended. */
const PATTERNS: readonly (readonly [BoundedOperation, method: string, RegExp])[] = [
  ['login', 'POST', new RegExp(`^/_matrix/client/${V}/login$`)],
  ['send', 'PUT', new RegExp(`^/_matrix/client/${V}/rooms/([^/]*)/send/([^/]*)/([^/]*)$`)],
  ['send', 'POST', new RegExp(`^/_matrix/client/${V}/rooms/([^/]*)/send/([^/]*)$`)],
  [
    'scheduleDelayed',
    'POST',
    /^\/_matrix\/client\/unstable\/org.matrix.msc4140\/rooms\/([^/]*)\/delayed_event\/([^/]*)$/,
  ],
  ['openIdToken', 'POST', new RegExp(`^/_matrix/client/${V}/user/([^/]*)/openid/request_token`)],
  ['setRoomAccountData', 'PUT', new RegExp(`^/_matrix/client/${V}/user/([^/]*)/rooms/([^/]*)/account_data/([^/]*)`)],
  ['uploadTo', 'PUT', /^\/_matrix\/media\/v3\/upload\/([^/]*)\/([^/]*)$/],
  ['sendTransaction', 'PUT', /^\/_matrix\/federation\/v1\/send\/([^/]*)\/?$/],
];

/** How servers, and the proxies in front of them, normalize a path first. */
const READERS: Readonly<Record<string, (path: string) => string>> = {
  'takes it as it is': (path) => path,
  'decodes it whole': (path) => decodeURIComponent(path),
  'merges slashes': (path) => path.replace(/\/+/g, '/'),
  'decodes and merges': (path) => decodeURIComponent(path).replace(/\/+/g, '/'),
  'decodes, then resolves dot segments': (path) => withoutDots(decodeURIComponent(path)),
  'decodes, merges slashes and resolves dot segments': (path) =>
    withoutDots(decodeURIComponent(path).replace(/\/+/g, '/')),
  'takes backslashes for slashes, too': (path) =>
    withoutDots(decodeURIComponent(path).replaceAll('\\', '/').replace(/\/+/g, '/')),
  'drops slashes at the end': (path) => path.replace(/\/+$/, ''),
  'reads it as a reference': (path) => new URL(path, 'http://b').pathname,
};

/** Resolves dot segments as in RFC 3986, section 5.2.4. */
function withoutDots(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  segments.forEach((segment, index) => {
    if (segment === '..') kept.pop();
    if (segment !== '.' && segment !== '..') kept.push(segment);
    else if (index === segments.length - 1) kept.push('');
  });
  return `/${kept.join('/')}`;
}

const SEEDS: readonly [method: string, target: string][] = [
  ['POST', '/_matrix/client/api/v1/login'],
  ['PUT', '/_matrix/client/v3/rooms/!r:b/send/m.rtc.notification/1'],
  ['POST', '/_matrix/client/r0/rooms/!r:b/send/m.rtc.notification'],
  ['POST', '/_matrix/client/unstable/org.matrix.msc4140/rooms/!r:b/delayed_event/m.x'],
  ['POST', '/_matrix/client/v3/user/@a:b/openid/request_token'],
  ['PUT', '/_matrix/client/v3/user/@a:b/rooms/!r:b/account_data/t'],
  ['PUT', '/_matrix/media/v3/upload/b/c'],
  ['PUT', '/_matrix/federation/v1/send/t1'],
];
const BITS = [
  '/',
  '//',
  '%2F',
  '%2f',
  '/.',
  '/..',
  '/x%2f..%2F',
  '%2f.%2f',
  '..%2f',
  '%2f%2e%2e',
  '%5c..%5c',
  '%2e',
  '%2E%2e',
  '%00',
  ';x',
  '\\',
  '%5C',
  '%',
  '%25',
  '%252F',
  '?',
  '#',
  '%c0%af',
  '/x',
  'x',
  '//h',
];

let state = 1;
/** A pseudo-random number below n, the same sequence in every run. */
const random = (n: number): number => ((state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 8) % n;

function mutated(target: string): string {
  const at = random(8) ? random(target.length) : target.length;
  const [before, after] = [target.slice(0, at), target.slice(at)];
  const slash = before.lastIndexOf('/');
  switch (after === '' ? 0 : random(4)) {
    case 0:
      return before + BITS[random(BITS.length)] + after;
    case 1:
      return `${before}%${after.charCodeAt(0).toString(16).padStart(2, '0')}${after.slice(1)}`;
    case 2:
      return before.slice(0, slash + 1) + after;
    default:
      return before.slice(0, Math.max(slash, 0)) + BITS[random(4)] + before.slice(slash + 1) + after;
  }
}

function readBy(reader: (path: string) => string, method: string, target: string): BoundedOperation | undefined {
  try {
    const path = reader(target.split(/[?#]/, 1)[0] ?? '');
    return PATTERNS.find(([, taken, pattern]) => taken === method && pattern.test(path))?.[0];
  } catch {
    return undefined;
  }
}

describe('PathTable', () => {
  test('finds every bounded operation that another server finds in a path', () => {
    const table = new PathTable(boundedOperations);
    const missed = new Set<string>();
    let found = 0;
    for (let i = 0; i < 60_000; i++) {
      const [method, seed] = SEEDS[i % SEEDS.length]!;
      const target = mutated(random(2) ? seed : mutated(seed));
      const ours = table.classify(method, target);
      if (ours.kind === 'ambiguous') continue;
      for (const [name, reader] of Object.entries(READERS)) {
        const theirs = readBy(reader, method, target);
        if (theirs === undefined) continue;
        found++;
        if (ours.kind !== 'matched' || ours.match.operation !== theirs) missed.add(`${method} ${target}: ${name}`);
      }
    }
    expect([...missed]).toEqual([]);
    expect(found).toBeGreaterThan(10_000);
  });
});
