import { bySource, sourceKey } from './source-key.js';

describe('sourceKey', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['64:ff9b::192.0.2.1', '192.0.2.1'],
    ['64:FF9B::c000:201', '192.0.2.1'],
    ['64:ff9b:1::192.0.2.1', '64:ff9b:1:0::/64'],
    ['64:ff9b::1:192.0.2.1', '64:ff9b:0:0::/64'],
    ['::ffff:0:192.0.2.1', '192.0.2.1'],
    ['2002:c000:201:7::5', '192.0.2.1'],
    ['2002:c000:201:ffff::', '192.0.2.1'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', '192.0.2.45'],
    ['2001:1::1', '2001:1:0:0::/64'],
    ['::192.0.2.1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['', 'unknown'],
    ['not an address', 'unknown'],
  ])('maps %p to %p', (address, key) => {
    expect(sourceKey(address)).toBe(key);
  });

  test.each([
    [48, '2001:db8:1::/48'],
    [56, '2001:db8:1:200::/56'],
    [64, '2001:db8:1:2ff::/64'],
    [128, '2001:db8:1:2ff:0:0:0:1/128'],
  ])('truncates to a prefix of %d', (prefix, key) => {
    expect(sourceKey('2001:db8:1:2ff::1', prefix)).toBe(key);
  });
});

describe('bySource', () => {
  test('counts by the address that the framework determined', () => {
    expect(bySource()({ ip: '::ffff:203.0.113.7', headers: {} })).toBe('203.0.113.7');
    expect(bySource(48)({ ip: '2001:db8:1:2::1', headers: {} })).toBe('2001:db8:1::/48');
  });

  test('uses one key for all requests without an address', () => {
    expect(bySource()({ headers: {} })).toBe('unknown');
  });

  test.each([0, 6.4, 129])('refuses a prefix of %d', (prefix) => {
    expect(() => bySource(prefix)).toThrow('from 1 to 128');
  });
});
