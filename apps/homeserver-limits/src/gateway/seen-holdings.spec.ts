import type { MatrixRequest } from '../wire/matrix-request.js';
import { SeenHoldings } from './seen-holdings.js';

describe('SeenHoldings', () => {
  let now = 0;
  let seen: SeenHoldings;
  beforeEach(() => {
    now = 0;
    seen = new SeenHoldings(undefined, () => now);
  });
  afterEach(() => seen.close());

  test('counts distinct filter ids', () => {
    for (const id of ['1', '2', '1']) seen.addFilter('@a:b', id, `print${id}`);
    expect(seen.filters('@a:b')).toBe(2);
  });

  test('has one request at a time find out whether sending a filter again makes a second one', () => {
    for (const print of ['p', 'q']) seen.addFilter('@a:b', print, print);
    expect(['p', 'q', 'new'].map((print) => seen.hasFilter('@a:b', print))).toEqual([true, false, false]);
    now = 10_000;
    expect(['p', 'q'].map((print) => seen.hasFilter('@a:b', print))).toEqual([true, false]);
  });

  test('takes filters for held where the upstream gives each of them one id', () => {
    for (const id of ['p', 'q', 'p']) seen.addFilter('@a:b', id, id);
    expect(['p', 'q', 'p', 'new'].map((print) => seen.hasFilter('@a:b', print))).toEqual([true, true, true, false]);
  });

  test('takes none for held where the upstream gives one filter two ids', () => {
    seen.addFilter('@a:b', '1', 'p');
    seen.addFilter('@a:b', '2', 'q');
    seen.addFilter('@a:b', '3', 'p');
    seen.addFilter('@a:b', '2', 'q');
    expect(seen.hasFilter('@a:b', 'q')).toBe(false);
    expect(seen.filters('@a:b')).toBe(3);
  });

  test('keeps what it knows about a filter when it is only read', () => {
    seen.addFilter('@a:b', '1', 'print');
    seen.addFilter('@a:b', '1', undefined);
    expect(seen.hasFilter('@a:b', 'print')).toBe(true);
  });

  test('takes over what a user had before, beside what came by already', () => {
    seen.addAccountData('@a:b', '', 't');
    expect(seen.accountDataIsSeeded('@a:b')).toBe(false);
    seen.seedAccountData('@a:b', [
      ['', 't'],
      ['', 'u'],
      ['!r:b', 't'],
    ]);
    expect([seen.accountData('@a:b'), seen.accountDataIsSeeded('@a:b')]).toEqual([3, true]);
  });

  test('keeps account data of scopes apart, and forgets what is deleted', () => {
    seen.addAccountData('@a:b', '', 't');
    seen.addAccountData('@a:b', '!r:b', 't');
    seen.removeAccountData('@a:b', '', 't');
    expect([seen.accountData('@a:b'), seen.hasAccountData('@a:b', '!r:b', 't')]).toEqual([1, true]);
  });

  test('counts delayed events until they are due, are ended, or later when they are restarted', () => {
    for (const id of ['one', 'two', 'three']) seen.addDelayedEvent('holder', id, 100);
    now = 60;
    seen.restartDelayedEvent('two');
    expect(seen.endDelayedEvent('three')).toBe('holder');
    expect(seen.endDelayedEvent('three')).toBeUndefined();
    expect(seen.delayedEvents('holder')).toBe(2);
    now = 100;
    expect(seen.delayedEvents('holder')).toBe(1);
  });

  describe('knows the repetition of a transaction', () => {
    const caller = { userId: '@a:b', deviceId: 'D', exemptFromRates: false };
    const path = '/_matrix/client/v3/rooms/!r:b/send/m.x/1';
    const request = (target: string) => ({ params: { txnId: '1' }, target }) as unknown as MatrixRequest;

    test('by the path as it came, whatever the query', () => {
      seen.rememberTransaction(caller, request(`${path}?a`));
      expect(seen.wasScheduled(caller, request(path))).toBe(true);
      for (const other of [path.replace('v3', 'r0'), path.replace('m.x', 'm%2Ex'), `${path}/`]) {
        expect(seen.wasScheduled(caller, request(other))).toBe(false);
      }
      expect(seen.wasScheduled({ ...caller, deviceId: 'E' }, request(path))).toBe(false);
    });

    test('for less time than the upstream, however often it is repeated', () => {
      seen.rememberTransaction(caller, request(path));
      now = 24 * 60_000;
      seen.rememberTransaction(caller, request(path));
      expect(seen.wasScheduled(caller, request(path))).toBe(true);
      now = 25 * 60_000;
      expect(seen.wasScheduled(caller, request(path))).toBe(false);
    });
  });
});
