import { pickAddress } from './guest-address.js';

describe('pickAddress', () => {
  test('takes the first IPv4 address that others can use', () => {
    expect(
      pickAddress(` lo         00:00:00:00:00:00    ipv4         127.0.0.1/8
 -          -                    ipv6         ::1/128
 eth0       52:54:00:22:e5:72    ipv6         fe80::5054:ff:fe22:e572/64
 -          -                    ipv4         10.0.2.15/24
`),
    ).toBe('10.0.2.15');
  });

  test('takes a global IPv6 address where there is no other', () => {
    expect(pickAddress(' eth0  52:54:00:22:e5:72  ipv6  2001:db8::7/64\n')).toBe('2001:db8::7');
  });

  test('knows when there is none yet', () =>
    expect(pickAddress('\n eth0       52:54:00:22:e5:72    N/A          N/A\n')).toBeUndefined());
});
