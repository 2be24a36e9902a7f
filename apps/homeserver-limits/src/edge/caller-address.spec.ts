import type { IncomingMessage } from 'node:http';
import { CallerAddress } from './caller-address.js';

const addresses = new CallerAddress(['10.0.0.0/8', 'fe80::/10'], 64);

const source = (peer: string | undefined, headers: Record<string, string> = {}) =>
  addresses.of({ socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage).source;

describe('CallerAddress', () => {
  test.each([
    ['an address', '192.0.2.1', '192.0.2.1'],
    ['IPv4 on a listener for both families', '::ffff:192.0.2.1', '192.0.2.1'],
    ['IPv6 by its network', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['a connection without an address', undefined, 'unknown'],
  ])('counts %s', (_what, peer, key) => expect(source(peer)).toBe(key));

  test('ignores the headers of an untrusted peer', () => {
    const headers = { 'x-forwarded-for': '198.51.100.1', forwarded: 'for=198.51.100.1', 'x-real-ip': '198.51.100.1' };
    expect(source('192.0.2.1', headers)).toBe('192.0.2.1');
  });

  test.each([
    ['198.51.100.1', '198.51.100.1'],
    ['203.0.113.9, 198.51.100.1', '198.51.100.1'],
    ['203.0.113.9, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
    ['198.51.100.1:4711', '198.51.100.1'],
    ['[2001:db8::1]:4711', '2001:db8:0:0::/64'],
    ['2001:db8::1%eth0', '2001:db8:0:0::/64'],
    ['::ffff:c633:6401', '198.51.100.1'],
    ['203.0.113.9, unknown', '10.0.0.1'],
    ['203.0.113.9, _hidden', '10.0.0.1'],
    [', ,', '10.0.0.1'],
    ['', '10.0.0.1'],
  ])('reads the header of a trusted proxy (%j) from the right', (forwardedFor, key) => {
    expect(source('10.0.0.1', { 'x-forwarded-for': forwardedFor })).toBe(key);
    expect(source('::ffff:10.0.0.1', { 'x-forwarded-for': forwardedFor })).toBe(key);
  });

  test('recognizes a trusted link-local proxy on every interface', () => {
    expect(source('fe80::1%eth0', { 'x-forwarded-for': '198.51.100.1' })).toBe('198.51.100.1');
  });
});
