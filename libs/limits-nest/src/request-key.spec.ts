import { bySource } from './request-key.js';

const key = (ip: string, prefix?: number) => bySource(prefix)({ ip, headers: {} });

describe('bySource', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2::1', '2001:db8:1:2/64'],
    ['2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2/64'],
    ['2001:db8::1', '2001:db8:0:0/64'],
    ['fe80::1%eth0', 'fe80:0:0:0/64'],
    ['::1', '0:0:0:0/64'],
    ['::', '0:0:0:0/64'],
    ['', 'unknown'],
    ['not an address', 'unknown'],
  ])('counts %p as %p', (ip, expected) => {
    expect(key(ip)).toBe(expected);
  });

  test('takes a shorter IPv6 prefix', () => {
    expect(key('2001:db8:1:2::1', 48)).toBe('2001:db8:1/48');
  });

  test.each([0, 60, 129])('refuses a prefix of %d', (prefix) => {
    expect(() => bySource(prefix)).toThrow('multiple of 16');
  });

  test('shares one key among requests without an address', () => {
    expect(bySource()({ headers: {} })).toBe('unknown');
  });
});
