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

  test('takes a filter for held only while the upstream gives it one id', () => {
    seen.addFilter('@a:b', '1', 'print');
    expect(seen.hasFilter('@a:b', 'print')).toBe(true);
    seen.addFilter('@a:b', '2', 'print');
    expect(seen.hasFilter('@a:b', 'print')).toBe(false);
  });

  test('keeps what it knows about a filter when it is only read', () => {
    seen.addFilter('@a:b', '1', 'print');
    seen.addFilter('@a:b', '1', undefined);
    expect(seen.hasFilter('@a:b', 'print')).toBe(true);
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
