import { sourceKey } from './source-key.js';

describe('sourceKey', () => {
  test('keys IPv4 by the address', () => expect(sourceKey('192.0.2.7', 64)).toBe('192.0.2.7'));

  test.each([
    ['2001:db8:1:2:3:4:5:6', 64, '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', 64, '2001:db8:1:2::/64'],
    ['2001:db8::1', 64, '2001:db8:0:0::/64'],
    ['2001:db8:1:2ff::1', 48, '2001:db8:1::/48'],
    ['::1', 64, '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', 64, '64:ff9b:0:0::/64'],
  ])('keys %s by its /%i', (address, prefix, key) => expect(sourceKey(address, prefix)).toBe(key));

  test('cuts inside a group for a /56', () => {
    expect(sourceKey('2001:db8:1:2ff::1', 56)).toBe(sourceKey('2001:db8:1:200::1', 56));
    expect(sourceKey('2001:db8:1:2ff::1', 56)).not.toBe(sourceKey('2001:db8:1:300::1', 56));
  });

  test('gives everybody without a usable address one key', () => {
    expect(sourceKey('', 64)).toBe(sourceKey('nonsense', 64));
  });
});
