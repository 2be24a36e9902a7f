import type { MatrixRequest } from '@headgate/homeserver-contracts';
import { HoldingsCache } from './holdings-cache.js';

describe('HoldingsCache', () => {
  let now = 0;
  let cache: HoldingsCache;
  beforeEach(() => {
    now = 0;
    cache = new HoldingsCache(undefined, () => now);
  });
  afterEach(() => cache.close());

  test('counts distinct filter IDs', () => {
    for (const id of ['1', '2', '1']) cache.addFilter('@a:b', id, `print${id}`);
    expect(cache.filters('@a:b')).toBe(2);
  });

  test('lets one request at a time probe whether a repeated filter gets a new ID', () => {
    for (const print of ['p', 'q']) cache.addFilter('@a:b', print, print);
    expect(['p', 'q', 'new'].map((print) => cache.hasFilter('@a:b', print))).toEqual([true, false, false]);
    now = 10_000;
    expect(['p', 'q'].map((print) => cache.hasFilter('@a:b', print))).toEqual([true, false]);
  });

  test('treats repeated filters as held when the upstream reuses their IDs', () => {
    for (const id of ['p', 'q', 'p']) cache.addFilter('@a:b', id, id);
    expect(['p', 'q', 'p', 'new'].map((print) => cache.hasFilter('@a:b', print))).toEqual([true, true, true, false]);
  });

  test('treats no repeated filter as held when the upstream gives one filter two IDs', () => {
    cache.addFilter('@a:b', '1', 'p');
    cache.addFilter('@a:b', '2', 'q');
    cache.addFilter('@a:b', '3', 'p');
    cache.addFilter('@a:b', '2', 'q');
    expect(cache.hasFilter('@a:b', 'q')).toBe(false);
    expect(cache.filters('@a:b')).toBe(3);
  });

  test('keeps the fingerprint of a filter that is only read', () => {
    cache.addFilter('@a:b', '1', 'print');
    cache.addFilter('@a:b', '1', undefined);
    expect(cache.hasFilter('@a:b', 'print')).toBe(true);
  });

  test('adds the seeded entries of a user to the observed ones', () => {
    cache.addAccountData('@a:b', '', 't');
    expect(cache.accountDataIsSeeded('@a:b')).toBe(false);
    cache.seedAccountData('@a:b', [
      ['', 't'],
      ['', 'u'],
      ['!r:b', 't'],
    ]);
    expect([cache.accountData('@a:b'), cache.accountDataIsSeeded('@a:b')]).toEqual([3, true]);
  });

  test('keeps the scopes of account data apart, and drops deleted entries', () => {
    cache.addAccountData('@a:b', '', 't');
    cache.addAccountData('@a:b', '!r:b', 't');
    cache.removeAccountData('@a:b', '', 't');
    expect([cache.accountData('@a:b'), cache.hasAccountData('@a:b', '!r:b', 't')]).toEqual([1, true]);
  });

  test('counts delayed events until they are due or ended, and longer after a restart of the delay', () => {
    for (const id of ['one', 'two', 'three']) cache.addDelayedEvent('holder', id, 100);
    now = 60;
    cache.restartDelayedEvent('two');
    expect(cache.endDelayedEvent('three')).toBe('holder');
    expect(cache.endDelayedEvent('three')).toBeUndefined();
    expect(cache.delayedEvents('holder')).toBe(2);
    now = 100;
    expect(cache.delayedEvents('holder')).toBe(1);
  });

  test('counts the delayed events of one holder without those of the others', () => {
    for (let i = 0; i < 300; i++) cache.addDelayedEvent(i % 3 === 0 ? 'one' : 'two', `id${i}`, i < 150 ? 100 : 200);
    expect([cache.delayedEvents('one'), cache.delayedEvents('two'), cache.delayedEvents('three')]).toEqual([
      100, 200, 0,
    ]);
    now = 100;
    for (let i = 0; i < 300; i++) cache.addDelayedEvent('two', `more${i}`, 100);
    expect([cache.delayedEvents('one'), cache.delayedEvents('two')]).toEqual([50, 400]);
  });

  describe('recognizes a repeated transaction', () => {
    const caller = { userId: '@a:b', deviceId: 'D', exemptFromRates: false };
    const path = '/_matrix/client/v3/rooms/!r:b/send/m.x/1';
    const request = (target: string) => ({ params: { txnId: '1' }, target }) as unknown as MatrixRequest;

    test('by the path as received, whatever the query', () => {
      cache.rememberTransaction(caller, request(`${path}?a`));
      expect(cache.wasScheduled(caller, request(path))).toBe(true);
      for (const other of [path.replace('v3', 'r0'), path.replace('m.x', 'm%2Ex'), `${path}/`]) {
        expect(cache.wasScheduled(caller, request(other))).toBe(false);
      }
      expect(cache.wasScheduled({ ...caller, deviceId: 'E' }, request(path))).toBe(false);
    });

    test('for less time than the upstream, even when it is repeated often', () => {
      cache.rememberTransaction(caller, request(path));
      now = 24 * 60_000;
      cache.rememberTransaction(caller, request(path));
      expect(cache.wasScheduled(caller, request(path))).toBe(true);
      now = 25 * 60_000;
      expect(cache.wasScheduled(caller, request(path))).toBe(false);
    });
  });
});
