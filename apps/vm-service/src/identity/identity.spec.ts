import type { IncomingMessage } from 'node:http';
import { CallerIdentity } from './caller-identity.js';
import { LocalTrust, type PeerRequest } from './local-trust.js';
import { PeerUsers } from '../platform/peer-users.js';
import { EdgePolicy } from './edge-policy.js';

class StubPeers extends PeerUsers {
  constructor(
    private readonly uid: number | undefined,
    override readonly isSupported = true,
  ) {
    super();
  }

  override userOf(): number | undefined {
    return this.uid;
  }
}

const from = (address: string, headers: Record<string, string | string[]> = {}) =>
  ({ headers, socket: { remoteAddress: address } }) as unknown as IncomingMessage;

describe('CallerIdentity', () => {
  const identity = (admins: string[]) =>
    new CallerIdentity(
      {
        admins,
        trustedProxies: ['127.0.0.0/8', '::1'],
        loginHeader: 'Tailscale-User-Login',
        nameHeader: 'Tailscale-User-Name',
      },
      new LocalTrust({ open: true, trustedUids: [] }, new StubPeers(0)),
    );
  /** The identity of a caller, and the kind of their rights. */
  const known = (list: CallerIdentity, request: PeerRequest) => {
    const { login, name } = list.of(request);
    return { login, name, kind: list.rightsOf({ login }).kind };
  };
  const ann = { 'tailscale-user-login': 'Ann@Example.org', 'tailscale-user-name': 'Ann' };

  test('trusts the headers of a trusted proxy only', () => {
    const list = identity(['ann@example.org']);
    expect(known(list, from('127.0.0.1', ann))).toEqual({
      login: 'Ann@Example.org',
      name: 'Ann',
      kind: 'administrator',
    });
    expect(known(list, from('::ffff:127.0.0.1', ann)).kind).toBe('administrator');
    expect(known(list, from('203.0.113.5', ann))).toEqual({ login: '', name: '', kind: 'reader' });
  });

  test('makes everyone an administrator while there is no allowlist', () => {
    expect(known(identity([]), from('203.0.113.5')).kind).toBe('administrator');
    expect(identity([]).enforced).toBe(false);
  });

  test('ignores a header that occurs twice', () => {
    for (const login of [['bob', 'ann'], 'bob, ann']) {
      const request = from('127.0.0.1', { 'tailscale-user-login': login });
      expect(known(identity(['ann']), request).kind).toBe('reader');
    }
    const twice = ['Tailscale-User-Name', 'Ann', 'tailscale-user-login', 'ann', 'Tailscale-User-NAME', 'Bob'];
    const request = { ...from('127.0.0.1', { 'tailscale-user-login': 'ann' }), rawHeaders: twice };
    expect(known(identity(['ann']), request)).toEqual({ login: '', name: '', kind: 'reader' });
  });

  test('decodes no encoded word in a login', () => {
    const encoded = { 'tailscale-user-login': '=?utf-8?q?ann?=', 'tailscale-user-name': '=?utf-8?q?ann?=' };
    expect(known(identity(['ann']), from('127.0.0.1', encoded))).toEqual({
      login: '=?utf-8?q?ann?=',
      name: 'ann',
      kind: 'reader',
    });
  });

  test('decodes a name beyond ASCII', () => {
    expect(identity([]).of(from('127.0.0.1', { 'tailscale-user-name': '=?utf-8?q?J=C3=B6rg_M.?=' })).name).toBe(
      'Jörg M.',
    );
  });
});

describe('EdgePolicy', () => {
  const policy = new EdgePolicy({
    listen: '192.0.2.7:8006',
    allowedHosts: ['Console.example.org', 'other.example.org:444'],
  });

  test.each([
    'localhost:8006',
    '127.0.0.1:9999',
    '[::1]:8006',
    '192.0.2.7:8006',
    'console.example.org',
    'CONSOLE.example.org:443',
    'other.example.org:444',
  ])('accepts the Host %s', (host) => expect(() => policy.checkHost({ host })).not.toThrow());

  test.each([
    undefined,
    '',
    'evil.example.org',
    'localhost.evil.example.org',
    'other.example.org',
    '127.0.0.1.evil.example.org:8006',
    '0.0.0.0:8006',
  ])('refuses the Host %s', (host) =>
    expect(() => policy.checkHost({ host })).toThrow(expect.objectContaining({ code: 'UNKNOWN_HOST' })),
  );

  test('accepts its own page and clients that are not pages, and refuses any other page', () => {
    const host = 'localhost:8006';
    for (const origin of [undefined, 'http://localhost:8006', 'https://localhost:8006'])
      policy.checkOrigin({ host, origin });
    for (const origin of [
      'http://localhost',
      'http://localhost:8007',
      'null',
      'http://evil.example.org',
      '',
      'http://localhost:8006.evil.example.org',
    ])
      expect(() => policy.checkOrigin({ host, origin })).toThrow(expect.objectContaining({ code: 'FOREIGN_ORIGIN' }));
  });

  test.each([
    ['POST', 'same-origin', 'cors', true],
    ['POST', 'none', 'navigate', true],
    ['POST', 'same-site', 'cors', false],
    ['POST', 'cross-site', 'no-cors', false],
    ['GET', 'same-origin', 'cors', true],
    ['GET', 'cross-site', 'navigate', true],
    ['GET', 'cross-site', 'no-cors', false],
  ])('judges a %s with Sec-Fetch-Site %s and Sec-Fetch-Mode %s', (method, site, mode, isAllowed) => {
    const headers = { host: 'localhost:8006', 'sec-fetch-site': site, 'sec-fetch-mode': mode };
    const check = (): void => (method === 'GET' ? policy.checkRead(headers) : policy.checkOrigin(headers));
    if (isAllowed) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'FOREIGN_ORIGIN' }));
  });

  test('has no name of its own when it listens on every address', () => {
    expect(() =>
      new EdgePolicy({ listen: '0.0.0.0:8006', allowedHosts: [] }).checkHost({ host: '0.0.0.0:8006' }),
    ).toThrow();
  });
});
