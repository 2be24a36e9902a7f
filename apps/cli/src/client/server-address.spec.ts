import { addressOf, isLoopback, parseServerAddress, parseToken, refuseTokenInTheClear } from './server-address.js';

describe('the address of a server', () => {
  test.each([
    ['https://vms.example.org', 'https://vms.example.org'],
    ['vms.example.org:8443', 'https://vms.example.org:8443'],
    ['http://127.0.0.1:8006/', 'http://127.0.0.1:8006'],
    ['https://example.org/headgate?x=1#y', 'https://example.org/headgate'],
  ])('%s is %s', (text, address) => {
    expect(addressOf(parseServerAddress(text, '--server'))).toBe(address);
  });

  test.each(['ftp://example.org', 'file:///etc/passwd', 'https://', ''])('refuses "%s"', (text) => {
    expect(() => parseServerAddress(text, '--server')).toThrow(/^--server must be an http or https address/);
  });

  test('refuses a password in it, because command lines can be read', () => {
    expect(() => parseServerAddress('https://ann:secret@example.org', '--server')).toThrow(
      /must not contain a user name/,
    );
  });

  test.each([
    'http://127.0.0.1',
    'http://127.8.8.8:1',
    'http://localhost:8006',
    'http://[::1]:1',
    'http://a.localhost',
  ])('%s is on this machine', (url) => expect(isLoopback(new URL(url))).toBe(true));

  test.each([
    'http://127.0.0.1.example.org',
    'http://localhost.example.org',
    'http://10.0.0.1',
    'http://[::ffff:7f00:1]',
  ])('%s may be elsewhere', (url) => expect(isLoopback(new URL(url))).toBe(false));

  test('a token is not sent over HTTP to another machine, unless that is allowed', () => {
    const access = { url: new URL('http://vms.example.org'), token: 'hgt_x' };
    expect(() => refuseTokenInTheClear(access, false)).toThrow(/--insecure-http/);
    expect(() => refuseTokenInTheClear(access, true)).not.toThrow();
    expect(() => refuseTokenInTheClear({ url: access.url }, false)).not.toThrow();
    for (const url of ['https://vms.example.org', 'http://localhost'])
      expect(() => refuseTokenInTheClear({ ...access, url: new URL(url) }, false)).not.toThrow();
  });

  test.each(['', ' ', 'hgt_a b', 'hgt_a\nhgt_b', 'hgt_\u202e', 'hgt_a\r\nx-evil: 1'])(
    'refuses the token %j',
    (text) => {
      expect(() => parseToken(text, 'HEADGATE_TOKEN')).toThrow(/^HEADGATE_TOKEN must contain a token on one line/);
    },
  );

  test('takes a token with a newline at its end', () => {
    expect(parseToken('hgt_abc\n', 'file')).toBe('hgt_abc');
  });
});
