import { normalizeAddress } from './address.js';
import { TrustedProxies } from './trusted-proxies.js';

describe('TrustedProxies', () => {
  const proxies = TrustedProxies.of(['127.0.0.0/8', '::1', '10.1.0.0/16', 'fd00::/8']);

  test.each([
    '127.0.0.1',
    '127.9.9.9',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '10.1.2.3',
    'FD00::5',
    'fd00::5%eth0',
    '[::1]',
  ])('trusts %s', (address) => expect(proxies.trusts(address)).toBe(true));

  test.each(['10.2.0.1', '::2', 'fe80::1', '', 'localhost', '127.0.0.1.example.org', '999.1.1.1'])(
    'does not trust "%s"',
    (address) => expect(proxies.trusts(address)).toBe(false),
  );

  test.each(['', 'localhost', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/8/8', '::1/129', '10.0.0.0/a'])(
    'refuses the entry "%s"',
    (entry) => expect(() => TrustedProxies.of([entry])).toThrow(RangeError),
  );

  test('reads the caller from the right, only as far as the proxies are trusted', () => {
    expect(proxies.callerAddress('203.0.113.9', '1.1.1.1')).toBe('203.0.113.9');
    expect(proxies.callerAddress('127.0.0.1', undefined)).toBe('127.0.0.1');
    expect(proxies.callerAddress('127.0.0.1', '1.1.1.1, 198.51.100.7')).toBe('198.51.100.7');
    expect(proxies.callerAddress('::ffff:127.0.0.1', ['1.1.1.1, 198.51.100.7', '10.1.2.3'])).toBe('198.51.100.7');
    expect(proxies.callerAddress('127.0.0.1', '[2001:db8::1]:443')).toBe('2001:db8::1');
    expect(proxies.callerAddress('127.0.0.1', '198.51.100.7:5555')).toBe('198.51.100.7');
  });

  test('stops at an entry that is not an address and ignores the entries to its left', () => {
    expect(proxies.callerAddress('127.0.0.1', '1.1.1.1, unknown')).toBe('127.0.0.1');
  });
});

describe('normalizeAddress', () => {
  test('returns the same text for the same address', () => {
    expect(normalizeAddress('::FFFF:10.0.0.1')).toBe('10.0.0.1');
    expect(normalizeAddress('::ffff:0a00:0001')).toBe('10.0.0.1');
    expect(normalizeAddress('[2001:DB8::1]')).toBe('2001:db8::1');
  });
});
