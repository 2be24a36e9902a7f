import { readFileSync } from 'node:fs';
import { FakeService } from '../testing/fake-service.js';
import { Cli, Recorder } from '../testing/run-cli.js';

const BEGIN = 'POST /api/ext/login/device';
const POLL = 'POST /api/ext/login/device/token';
const TOKEN = 'hgt_secret';
const deviceCode = 'A'.repeat(43);

describe('a login with a code', () => {
  let service: FakeService;
  let cli: Cli;
  const whoami = { login: 'ann', name: 'laptop', admin: false, enforced: true, trust: 'users', token: 'a1b2c3d4e5' };
  const begun = { deviceCode, userCode: 'WDJB-MJHT', page: '/#/device', expiresInSeconds: 600, intervalSeconds: 0.05 };
  const approved = { status: 'approved', token: TOKEN, name: 'laptop', expiresAt: '2026-02-01T00:00:00.000Z' };

  beforeEach(async () => {
    service = await FakeService.open();
    service.json('GET /api/whoami', whoami).json(BEGIN, begun).json(POLL, approved);
    cli = new Cli();
  });
  afterEach(async () => {
    await service.close();
    cli.remove();
  });

  const login = (args: string[] = [], options = {}) =>
    cli.run(['login', service.url, ...args], { isOnTerminal: true, ...options });
  /** The answers to the polls, in their order. */
  const polls = (...answers: object[]): void => {
    service.on(POLL, (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answers.length > 1 ? answers.shift() : answers[0]));
    });
  };
  const sent = (path: string) => service.requests.filter(({ url }) => url === path);

  test('shows the code and the page, waits, and stores the token for its user only', async () => {
    polls({ status: 'pending', intervalSeconds: 0.05 }, { status: 'slow-down', intervalSeconds: 0.06 }, approved);
    const { code, stdout, stderr } = await login(['--machine', 'desk', '--actions', 'read,power', '--days', '7']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain(`${service.url}/#/device`);
    expect(stderr).toContain('WDJB-MJHT');
    expect(stderr).not.toContain(TOKEN);
    expect(stderr).not.toContain(deviceCode);
    expect(sent('/api/ext/login/device')[0]?.body).toEqual({ machine: 'desk', actions: ['read', 'power'], days: 7 });
    expect(sent('/api/ext/login/device/token').map(({ body }) => body)).toEqual(Array(3).fill({ deviceCode }));
    expect(sent('/api/whoami')[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(readFileSync(cli.configPath, 'utf8')).toContain(TOKEN);
  });

  test('asks the service to keep none of the answers, which contain the token', async () => {
    await login();
    const posts = service.requests.filter(({ method }) => method === 'POST');
    expect(posts.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined, undefined]);
  });

  test.each([
    ['denied', 3, /LOGIN_DENIED/],
    ['expired', 3, /LOGIN_EXPIRED/],
  ])('stores nothing when it is %s', async (status, code, message) => {
    polls({ status: 'pending' }, { status });
    expect(await login()).toMatchObject({ code, stderr: expect.stringMatching(message) });
    expect(await cli.json(['context', 'list'])).toEqual([]);
  });

  test('ends when the code has expired, whatever the service answers', async () => {
    service.json(BEGIN, { ...begun, expiresInSeconds: 0.2 });
    polls({ status: 'pending' });
    expect(await login()).toMatchObject({ code: 3, stderr: expect.stringContaining('LOGIN_EXPIRED') });
    expect(sent('/api/ext/login/device/token').length).toBeLessThanOrEqual(5);
  });

  test('goes on while the service restarts', async () => {
    let count = 0;
    service.on(POLL, (response) => {
      if (++count === 1) return void response.destroy();
      response.writeHead(count === 2 ? 503 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(count === 2 ? { error: 'Starting.', code: 'NOT_READY' } : approved));
    });
    expect(await login()).toMatchObject({ code: 0, stderr: expect.stringContaining('Trying again.') });
  });

  test('waits a moment for a replica that does not know the new token yet', async () => {
    let count = 0;
    service.on('GET /api/whoami', (response) => {
      response.writeHead(++count === 1 ? 403 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(count === 1 ? { error: 'Unknown.', code: 'NOT_PERMITTED' } : whoami));
    });
    expect(await login()).toMatchObject({ code: 0 });
    expect(count).toBe(2);
  });

  test('ends with Ctrl-C and stores nothing', async () => {
    polls({ status: 'pending' });
    const interruption = new AbortController();
    const stderr = new Recorder();
    const run = login([], { interrupted: interruption.signal, stderr });
    await stderr.until(/Waiting/);
    interruption.abort();
    expect(await run).toMatchObject({ code: 130 });
    expect(await cli.json(['context', 'list'])).toEqual([]);
  });

  test('is refused without a terminal, before a request', async () => {
    const { code, stderr } = await login([], { isOnTerminal: false });
    expect([code, service.requests]).toEqual([2, []]);
    expect(stderr).toMatch(/--token-file or --token-stdin/);
  });

  test('is refused over HTTP to another machine, also with --insecure-http', async () => {
    const args = ['login', 'http://vms.example.org', '--insecure-http'];
    expect(await cli.run(args, { isOnTerminal: true })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/https/),
    });
  });

  test.each([
    ['an older service', 404, { error: 'Cannot POST', code: 'PATH_NOT_FOUND' }, 1],
    ['a service without users', 501, { error: 'No login.', code: 'NOT_SUPPORTED' }, 3],
    ['too many logins', 429, { error: 'Wait.', code: 'TOO_MANY_LOGINS' }, 3],
    ['an action that does not exist', 400, { error: 'actions', code: 'INVALID_INPUT' }, 2],
    ['another program', 200, { ok: true }, 1],
  ])('ends with its exit code at %s', async (_what, status, body, code) => {
    service.json(BEGIN, body, status);
    expect(await login()).toMatchObject({ code });
    expect(await cli.json(['context', 'list'])).toEqual([]);
  });

  test('shows texts of the service without escapes, and sends the user to no other host', async () => {
    service.json(BEGIN, { ...begun, userCode: '\x1b[2JWDJB', page: '//evil.example/#/device' });
    const { stderr } = await login();
    expect(stderr).not.toContain('\x1b');
    expect(stderr).toContain(`${service.url}//evil.example/#/device`);
  });

  test('takes no other options together with a token', async () => {
    const { code } = await login(['--token-stdin', '--days', '3'], { stdin: 'hgt_x' });
    expect([code, service.requests]).toEqual([2, []]);
  });

  describe('a logout', () => {
    const revoke = 'DELETE /api/ext/login/devices/a1b2c3d4e5';

    test('revokes the token and removes the context', async () => {
      await login(['--name', 'prod']);
      service.json('GET /api/ext/login/devices', [{ id: 'a1b2c3d4e5' }]).json(revoke, { status: 'revoked' });
      expect(await cli.run(['logout'])).toMatchObject({ code: 0, stderr: expect.stringContaining('prod was removed') });
      expect(service.lines.at(-1)).toBe(revoke);
      expect(readFileSync(cli.configPath, 'utf8')).not.toContain(TOKEN);
    });

    test('leaves the token of an administrator as it is', async () => {
      await login(['--name', 'prod', '--token-stdin'], { stdin: TOKEN });
      service.json('GET /api/ext/login/devices', []);
      expect(await cli.run(['logout'])).toMatchObject({ code: 3, stderr: expect.stringContaining('NOT_A_LOGIN') });
      expect(await cli.json(['context', 'list'])).toMatchObject([{ name: 'prod' }]);
    });

    test('is for a context only', async () => {
      expect(await cli.run(['logout'])).toMatchObject({ code: 2 });
      expect(await cli.run(['logout', '--server', service.url])).toMatchObject({ code: 2 });
    });
  });
});
