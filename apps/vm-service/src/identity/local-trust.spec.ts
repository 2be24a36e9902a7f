import 'reflect-metadata';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { Edge, refusalOf } from '../testing/edge.js';
import { describeTrust } from './describe-trust.js';
import { LocalTrust } from './local-trust.js';
import { PeerUsers, ProcPeerUsers } from '../platform/peer-users.js';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const UNPRIVILEGED_UID = 65_534;

class StubPeers extends PeerUsers {
  override readonly isSupported: boolean;

  constructor(public uid: number | undefined) {
    super();
    this.isSupported = uid !== -1;
  }

  override userOf(): number | undefined {
    return this.uid;
  }
}

describe('ProcPeerUsers', () => {
  const HEADER = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
  const row = (local: string, remote: string, state: string, uid: number): string =>
    `   1: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 9 1 0 20 4 30 10 -1\n`;
  const peersOf = (tcp: string, tcp6 = ''): ProcPeerUsers =>
    new ProcPeerUsers((path) => HEADER + (path.endsWith('6') ? tcp6 : tcp));
  const ipv4 = { remoteAddress: '127.0.0.1', remotePort: 0x9000, localAddress: '127.0.0.1', localPort: 0x1f46 };
  const [peer, own] = ['0100007F:9000', '0100007F:1F46'];

  test('reads the user of the socket at the other end', () => {
    expect(peersOf(row(own, peer, '01', 0) + row(peer, own, '01', 1001)).userOf(ipv4)).toBe(1001);
    const mapped = { ...ipv4, remoteAddress: '::ffff:127.0.0.1', localAddress: '::ffff:127.0.0.1' };
    expect(peersOf(row(peer, own, '01', 1001)).userOf(mapped)).toBe(1001);
    const ipv6 = { ...ipv4, remoteAddress: '::1', localAddress: '::1' };
    const loopback6 = '00000000000000000000000001000000';
    expect(peersOf('', row(`${loopback6}:9000`, `${loopback6}:1F46`, '01', 1002)).userOf(ipv6)).toBe(1002);
  });

  test('knows no user of a socket that lost its owner, which the kernel reports as root', () => {
    for (const state of ['04', '05', '06', '08'])
      expect(peersOf(row(peer, own, state, 0)).userOf(ipv4)).toBeUndefined();
    expect(peersOf(row(own, peer, '01', 0)).userOf(ipv4)).toBeUndefined();
  });

  test('is not supported without the tables', () => {
    const peers = new ProcPeerUsers(() => {
      throw new Error('ENOENT');
    });
    expect([peers.isSupported, peers.userOf(ipv4)]).toEqual([false, undefined]);
  });

  (process.platform === 'linux' ? test : test.skip)('reads the users of real connections', async () => {
    const peers = new ProcPeerUsers();
    for (const host of ['127.0.0.1', '::1', '::']) {
      const server = createServer().listen(0, host);
      await once(server, 'listening').catch(() => undefined);
      const accepted = once(server, 'connection');
      const client = connect((server.address() as AddressInfo).port, host === '::' ? '127.0.0.1' : host);
      const [socket] = (await accepted) as [import('node:net').Socket];
      expect(peers.userOf(socket)).toBe(process.getuid?.());
      client.destroy();
      server.close();
      await once(server, 'close');
    }
  });
});

describe('LocalTrust', () => {
  const from = (remoteAddress: string, cookie?: string) =>
    ({ headers: { cookie }, rawHeaders: [], socket: { remoteAddress } }) as never;
  const trustOf = (uid: number, trustedUids: number[] = [], guests: number[] = []): LocalTrust =>
    new LocalTrust({ open: false, trustedUids }, new StubPeers(uid), guests);

  test('trusts root, the service itself and listed users, and refuses the others with the remedy', () => {
    for (const uid of [0, process.getuid?.() ?? 0]) expect(trustOf(uid).refusal(from('127.0.0.1'))).toBeUndefined();
    expect(trustOf(4711, [4711]).refusal(from('::1'))).toBeUndefined();
    expect(trustOf(4711).refusal(from('127.0.0.1'))).toMatch(/user ID 4711 is not trusted.*SVC_TRUSTED_UIDS.*--open/);
  });

  test('never trusts the user that runs guests', () => {
    expect(trustOf(64_055, [64_055], [64_055]).refusal(from('127.0.0.1'))).toMatch(/is not trusted/);
  });

  test('does not judge peers on other machines', () => {
    expect(trustOf(4711).refusal(from('192.0.2.7'))).toBeUndefined();
  });

  test('trusts everyone when it is open, and warns', () => {
    const trust = new LocalTrust({ open: true, trustedUids: [] }, new StubPeers(4711));
    expect(trust.refusal(from('127.0.0.1'))).toBeUndefined();
    expect(describeTrust(trust, '').join()).toMatch(/WARNING/);
  });

  test('lets one browser in with a token where the kernel reports no users', () => {
    const trust = new LocalTrust({ open: false, trustedUids: [] }, new StubPeers(-1));
    const token = trust.oneTimeToken ?? '';
    expect(describeTrust(trust, 'http://127.0.0.1:8006').join()).toContain(`http://127.0.0.1:8006/?token=${token}`);
    expect([trust.kind, trust.redeem('wrong')]).toEqual(['token', undefined]);
    const [cookie = ''] = trust.redeem(token)?.split(';') ?? [];
    expect(trust.redeem(token)).toBeUndefined();
    expect(trust.refusal(from('127.0.0.1'))).toMatch(/not signed in/);
    expect(trust.refusal(from('127.0.0.1', `a=b; ${cookie}`))).toBeUndefined();
  });
});

describe('a local user that is not trusted', () => {
  let edge: Edge;

  beforeEach(() => {
    edge = new Edge();
    edge.peerUsers = new StubPeers(4711);
  });
  afterEach(() => edge.close());

  test('is let in nowhere without an allowlist, except to the probes', async () => {
    await edge.open();
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/api/whoami'],
      ['GET', '/api/vms'],
      ['GET', '/metrics'],
      ['POST', '/api/vms/default/web/start'],
    ] as const) {
      const { status, json } = await edge.send(method, path);
      expect([path, status, json.code]).toEqual([path, 403, 'NOT_PERMITTED']);
      expect(json.error).toContain('SVC_TRUSTED_UIDS');
    }
    expect((await edge.send('GET', '/healthz')).status).toBe(200);
    expect((await edge.send('GET', '/readyz')).status).toBe(200);
    expect(await refusalOf(edge.socket('/api/tty/default/db'))).toBe(403);
  });

  test('can read with an allowlist, but the identity headers are ignored', async () => {
    await edge.open({ SVC_ADMINS: 'ann' });
    const headers = { 'tailscale-user-login': 'ann' };
    expect((await edge.send('GET', '/api/whoami', undefined, headers)).json).toMatchObject({ login: '', admin: false });
    expect((await edge.send('POST', '/api/vms/default/web/start', undefined, headers)).status).toBe(403);
  });

  test('is let in with SVC_TRUSTED_UIDS and with --open', async () => {
    await edge.open({ SVC_TRUSTED_UIDS: '1, 4711' });
    expect((await edge.send('GET', '/api/whoami')).json).toMatchObject({ admin: true, trust: 'users' });
    await edge.reopen({}, ['--open']);
    expect((await edge.send('GET', '/api/whoami')).json).toMatchObject({ admin: true, trust: 'open' });
  });

  test('signs in with the token where the kernel reports no users', async () => {
    edge.peerUsers = new StubPeers(-1);
    await edge.open();
    const token = edge.service.app.get(LocalTrust).oneTimeToken ?? '';
    expect((await edge.send('GET', '/?token=wrong')).status).toBe(403);
    const { status, headers } = await edge.send('GET', `/?token=${token}`);
    expect([status, headers['location']]).toEqual([303, '/']);
    const [cookie = ''] = String(headers['set-cookie']).split(';');
    expect((await edge.send('GET', '/api/whoami', undefined, { cookie })).json).toMatchObject({ trust: 'token' });
    expect((await edge.send('GET', '/api/whoami')).status).toBe(403);
  });

  (isRoot ? test : test.skip)(
    'is refused as a real process, while the same request of the service is answered',
    async () => {
      edge.peerUsers = new ProcPeerUsers();
      await edge.open();
      const script = `fetch('http://${edge.base}/api/whoami').then((r) => process.stdout.write(String(r.status)))`;
      const env = { PATH: process.env['PATH'] };
      const statusAs = async (uid: number): Promise<string> =>
        (await run('/usr/bin/env', ['node', '-e', script], { uid, env, cwd: '/' })).stdout;
      expect([await statusAs(UNPRIVILEGED_UID), await statusAs(0)]).toEqual(['403', '200']);
    },
  );
});
