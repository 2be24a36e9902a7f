import { boundedOperations } from './bounded-operations.js';
import { PathTable } from './path-table.js';
import { PROXIES, type Proxy } from './testing/proxies.js';
import { operationAt, SERVERS } from './testing/servers.js';
import { targets, UNESCAPED_PIECES } from './testing/targets.js';

/** Targets of this run. A million were checked once with `HEADGATE_TEST_TARGETS=1000000`. */
const COUNT = Number(process.env['HEADGATE_TEST_TARGETS'] ?? 10_000);
const RING = 'm.rtc.notification';

const table = new PathTable(boundedOperations);
const proxies = Object.entries(PROXIES);
const servers = Object.entries(SERVERS);

describe('PathTable', () => {
  test.each([
    ['', undefined],
    [', in targets with characters that should be escaped', UNESCAPED_PIECES],
  ])('finds every bounded operation that a homeserver finds behind any two proxies%s', (_which, pieces) => {
    /** The first way of each target. */
    const missed = new Map<string, string>();
    let found = 0;
    for (const { method, target, random } of targets(COUNT, 1, pieces)) {
      const ours = table.classify(method, target);
      if (ours.kind === 'ambiguous') continue;
      const pairs = Array.from({ length: 4 }, () => [random(proxies.length), random(proxies.length)]);
      const chains = [[], ...proxies.map((_, index) => [index]), ...pairs].map((chain) =>
        chain.map((index) => proxies[index]!),
      );
      for (const chain of chains) {
        const received = forwarded(target, chain);
        if (received === undefined) continue;
        for (const [name, server] of servers) {
          const theirs = operationAt(server, method, received);
          if (theirs === undefined) continue;
          found++;
          const isSame =
            ours.kind === 'matched' &&
            ours.match.operation === theirs.operation &&
            (theirs.eventType !== RING || ours.match.params['eventType'] === RING);
          if (isSame || missed.has(target)) continue;
          missed.set(target, [...chain.map(([proxy]) => proxy), name].join(', then '));
        }
      }
    }
    expect(Object.fromEntries(missed)).toEqual({});
    expect(found).toBeGreaterThan(COUNT / 4);
  });
});

function forwarded(target: string, chain: readonly (readonly [string, Proxy])[]): string | undefined {
  let current: string | undefined = target;
  for (const [, proxy] of chain) {
    if (current?.startsWith('/') !== true) return undefined;
    current = proxy(current);
  }
  return current;
}
