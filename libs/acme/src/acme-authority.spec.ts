import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { SystemClock } from '@headgate/domain-contracts';
import { createTestCertificate, describeOnPebble, hasOpenssl, PrivatePebble } from '@headgate/testing';
import { AcmeAuthority, type AcmeSettings } from './acme-authority.js';
import { AcmeFiles } from './acme-files.js';
import { AlpnResponder } from './alpn-responder.js';
import { ChallengeAnswers } from './challenge-answers.js';

const NAMES = ['vms.headgate.test', 'console.headgate.test'];
const POLL_MS = 100;
const EXTERNAL = { keyId: 'kid-1', key: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W' };

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

describeOnPebble('AcmeAuthority with Pebble', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-acme-'));
  const answers = new ChallengeAnswers();
  const asked: string[] = [];
  let http: Server;
  let tls: ReturnType<typeof createTls>;
  let responder: AlpnResponder;
  let pebble: PrivatePebble;

  beforeAll(async () => {
    http = createServer(({ url = '', headers: { host = '' } }, response) => {
      const text = answers.answer(host.split(':')[0] ?? '', url.split('/').at(-1) ?? '');
      asked.push(`${host.split(':')[0]} ${text === undefined ? 404 : 200}`);
      response.writeHead(text === undefined ? 404 : 200, { connection: 'close' }).end(text);
    });
    const own = createTestCertificate(folder, 'own');
    tls = createTls({ ...own, minVersion: 'TLSv1.2' }, (_request, response) => void response.end('own page'));
    responder = new AlpnResponder(tls, answers, new SystemClock());
    for (const server of [http, tls]) await once(server.listen(0, '127.0.0.1'), 'listening');
    const ports = { httpPort: portOf(http), tlsPort: portOf(tls) };
    pebble = await PrivatePebble.start({
      names: NAMES,
      blocked: ['blocked.headgate.test'],
      externalAccounts: { [EXTERNAL.keyId]: EXTERNAL.key },
      badNonces: 30,
      ...ports,
    });
  });
  afterAll(async () => {
    responder?.stop();
    for (const server of [http, tls]) {
      server?.close();
      server?.closeAllConnections();
    }
    await pebble?.stop();
    rmSync(folder, { recursive: true });
  });

  const files = (): AcmeFiles => new AcmeFiles(join(folder, 'acme'));
  const authority = (settings: Partial<AcmeSettings> = {}): AcmeAuthority =>
    new AcmeAuthority(
      {
        directory: pebble.directory,
        email: 'ops@headgate.test',
        domains: NAMES,
        challenge: 'http-01',
        externalAccount: EXTERNAL,
        trusted: pebble.trusted,
        ...settings,
      },
      files(),
      answers,
      POLL_MS,
    );

  test.each(['http-01', 'tls-alpn-01'] as const)(
    'gets a certificate with %s, with a third of the nonces refused',
    async (challenge) => {
      const { certificate, key } = await authority({ challenge }).issue();
      const leaf = new X509Certificate(certificate);
      expect(NAMES.map((name) => leaf.checkHost(name))).toEqual(NAMES);
      expect(key).toMatch(/^-----BEGIN PRIVATE KEY-----/);
      expect(certificate.match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(1);
      // Nothing is answered after the order.
      expect([answers.hasCertificates, answers.certificateFor(NAMES[0]!)]).toEqual([false, undefined]);
    },
  );

  test('uses one account, whose key only the service can read, and a new key for each certificate', async () => {
    const first = await authority().issue();
    const [file = ''] = readdirSync(join(folder, 'acme')).filter((name) => name.startsWith('account-'));
    const path = join(folder, 'acme', file);
    const before = readFileSync(path, 'utf8');
    expect([statSync(path).mode & 0o777, statSync(join(folder, 'acme')).mode & 0o777]).toEqual([0o600, 0o700]);
    const second = await authority().issue();
    expect([readFileSync(path, 'utf8') === before, first.key === second.key]).toEqual([true, false]);
  });

  test('changes the address for warnings, works without one, and registers again at an authority that has lost it', async () => {
    const domains = [NAMES[0]!];
    for (const email of ['other@headgate.test', undefined, undefined])
      expect((await authority({ domains, email }).issue()).certificate).toContain('BEGIN CERTIFICATE');
    await pebble.restart();
    await expect(authority({ domains }).issue()).rejects.toMatchObject({ name: 'AuthorityError' });
    expect((await authority({ domains }).issue()).certificate).toContain('BEGIN CERTIFICATE');
  });

  test('reports a name that does not lead here, and answers nothing for it then', async () => {
    const domains = ['elsewhere.headgate.test'];
    await expect(authority({ domains }).issue()).rejects.toThrow(/elsewhere\.headgate\.test|dns|NXDOMAIN|no such/i);
  });

  test('reports a challenge that another server answers', async () => {
    // Without its tokens, the server answers as one that is not ours.
    const foreign = new AcmeAuthority(
      {
        directory: pebble.directory,
        domains: [NAMES[0]!],
        challenge: 'http-01',
        externalAccount: EXTERNAL,
        trusted: pebble.trusted,
      },
      files(),
      new ChallengeAnswers(),
      POLL_MS,
    );
    asked.length = 0;
    await expect(foreign.issue()).rejects.toThrow(/Non-200/);
    expect(new Set(asked)).toEqual(new Set([`${NAMES[0]} 404`]));
  });

  test('reports a name for which the authority issues nothing', async () => {
    await expect(authority({ domains: ['blocked.headgate.test'] }).issue()).rejects.toThrow(
      /blocked\.headgate\.test|policy/i,
    );
  });

  test('reports a wrong key of an external account, and does not quote it', async () => {
    const key = Buffer.from('a wrong key of 32 bytes, not valid').toString('base64url');
    const other = new AcmeFiles(join(folder, 'other'));
    const settings = { domains: NAMES, challenge: 'http-01' as const, trusted: pebble.trusted };
    const wrong = new AcmeAuthority(
      { ...settings, directory: pebble.directory, externalAccount: { ...EXTERNAL, key } },
      other,
      answers,
      POLL_MS,
    );
    const error = await wrong.issue().catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ name: 'AuthorityError' });
    expect((error as Error).message).not.toContain(key);
  });

  test('does not trust the directory of another authority', async () => {
    await expect(authority({ trusted: undefined }).issue()).rejects.toThrow(/self-signed|certificate/i);
  });

  test('leaves other connections to the server while a challenge waits', async () => {
    const open = async (servername: string, protocols: string[]) => {
      const socket = connect({
        host: '127.0.0.1',
        port: portOf(tls),
        servername,
        ALPNProtocols: protocols,
        rejectUnauthorized: false,
      });
      const name = await new Promise((resolve) => {
        socket.once('secureConnect', () => resolve(socket.getPeerCertificate().subject.CN));
        socket.once('error', () => resolve('refused'));
      });
      socket.destroy();
      return name;
    };
    const waiting = createTestCertificate(folder, 'challenge');
    const remove = answers.addCertificate('vms.headgate.test', waiting);
    expect(await open('vms.headgate.test', ['acme-tls/1'])).toBe('challenge');
    expect(await open('vms.headgate.test', ['http/1.1'])).toBe('own');
    expect(await open('other.headgate.test', ['acme-tls/1'])).toBe('refused');
    remove();
    expect(await open('vms.headgate.test', ['http/1.1'])).toBe('own');
    expect(await open('vms.headgate.test', ['acme-tls/1'])).not.toBe('challenge');
  });
});

(hasOpenssl() ? describe : describe.skip)('AcmeAuthority with an authority that misbehaves', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-acme-'));
  let server: ReturnType<typeof createTls>;
  let respond: (path: string) => Answer;
  let trusted: string;
  const requests: string[] = [];

  beforeAll(async () => {
    const own = createTestCertificate(folder, 'directory');
    trusted = own.cert;
    server = createTls(own, ({ url = '' }, response) => {
      requests.push(url);
      const { status, headers, body } = respond(url);
      response
        .writeHead(status, {
          'replay-nonce': 'AAAA',
          'content-type': 'application/json',
          connection: 'close',
          ...headers,
        })
        .end(JSON.stringify(body));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  beforeEach(() => (requests.length = 0));
  afterAll(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  const base = (): string => `https://localhost:${portOf(server)}`;
  const directory = (more: object = {}) => ({
    newNonce: `${base()}/nonce`,
    newAccount: `${base()}/account`,
    newOrder: `${base()}/order`,
    ...more,
  });
  const issue = () =>
    new AcmeAuthority(
      { directory: `${base()}/dir`, domains: ['vms.headgate.test'], challenge: 'http-01', trusted },
      new AcmeFiles(join(folder, 'acme')),
      new ChallengeAnswers(),
      POLL_MS,
    ).issue();

  test('reports a rate limit with its time, and does not ask again', async () => {
    // As Let's Encrypt answers it.
    const limit = {
      type: 'urn:ietf:params:acme:error:rateLimited',
      detail: 'too many certificates (5) already issued for this exact set of identifiers in the last 168h0m0s',
      status: 429,
    };
    respond = (path): Answer => {
      if (path === '/dir') return { status: 200, body: directory() };
      if (path === '/account') return { status: 201, headers: { location: `${base()}/account/1` }, body: {} };
      return path === '/nonce'
        ? { status: 200, body: {} }
        : { status: 429, headers: { 'retry-after': '7200' }, body: limit };
    };
    await expect(issue()).rejects.toMatchObject({
      message: expect.stringContaining('too many certificates'),
      retryAfterMs: 7_200_000,
    });
    expect(requests.filter((path) => path === '/order')).toHaveLength(1);
  });

  test('sends nothing to an address without https that the authority names', async () => {
    const plain = createServer((_request, response) => void response.end());
    await once(plain.listen(0, '127.0.0.1'), 'listening');
    const seen: string[] = [];
    plain.on('request', ({ url = '' }) => seen.push(url));
    respond = () => ({ status: 200, body: directory({ newNonce: `http://127.0.0.1:${portOf(plain)}/nonce` }) });
    await expect(issue()).rejects.toThrow('without https');
    plain.close();
    expect(seen).toEqual([]);
  });

  test('follows no redirect', async () => {
    respond = () => ({ status: 302, headers: { location: `${base()}/other` }, body: {} });
    await expect(issue()).rejects.toMatchObject({ name: 'AuthorityError' });
    expect(requests).not.toContain('/other');
  });

  test('reports an answer that is no directory, in one line', async () => {
    respond = () => ({ status: 500, body: { detail: `a\u0000b\nc${'x'.repeat(1000)}` } });
    const { message } = (await issue().catch((reason: unknown) => reason)) as Error;
    expect(message).not.toMatch(/[\u0000-\u001f]/);
    expect(message.length).toBeLessThanOrEqual(400);
  });
});
