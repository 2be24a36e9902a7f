import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeService, type Answer } from '../testing/fake-service.js';
import { Cli } from '../testing/run-cli.js';

describe('login and contexts', () => {
  let service: FakeService;
  let cli: Cli;
  const whoami = { login: '', name: '', admin: true, enforced: false, trust: 'users' };

  beforeEach(async () => {
    service = await FakeService.open();
    service.json('GET /api/whoami', { ...whoami, token: 'a1B2' });
    cli = new Cli();
  });
  afterEach(async () => {
    await service.close();
    cli.remove();
  });

  const login = (args: string[] = [], stdin = 'hgt_secret\n') =>
    cli.run(['login', service.url, '--token-stdin', ...args], { stdin });

  test('a login tries the token and stores it for its user only', async () => {
    expect(await login(['--name', 'prod'])).toMatchObject({ code: 0, stdout: '' });
    expect(service.requests[0]?.headers.authorization).toBe('Bearer hgt_secret');
    expect(statSync(cli.configPath).mode & 0o777).toBe(0o600);
    expect((await cli.run(['whoami'])).stdout).toContain(`Server: ${service.url}\n`);
    expect(service.requests[1]?.headers.authorization).toBe('Bearer hgt_secret');
  });

  test('a login takes the token from a file', async () => {
    const file = join(cli.home, 'token');
    writeFileSync(file, 'hgt_of_file\n');
    expect((await cli.run(['login', service.url, '--token-file', file])).code).toBe(0);
    expect(service.requests[0]?.headers.authorization).toBe('Bearer hgt_of_file');
    expect(await cli.json(['context', 'list'])).toMatchObject([{ name: '127.0.0.1', current: true, hasToken: true }]);
  });

  const html: Answer = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
  const refusal: Answer = (response) =>
    response.writeHead(403, { 'content-type': 'application/json' }).end('{"error":"No.","code":"NOT_PERMITTED"}');
  const ignorance: Answer = (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whoami));

  test.each([
    ['a token that the service refuses', refusal, 3],
    ['a service that ignores the token', ignorance, 3],
    ['a page instead of a service', html, 1],
  ])('a login stores nothing for %s', async (_what, answer, code) => {
    service.on('GET /api/whoami', answer);
    expect(await login()).toMatchObject({ code });
    expect(await cli.json(['context', 'list'])).toEqual([]);
  });

  test('a login over HTTP to another machine is refused before a request', async () => {
    const args = ['login', 'http://vms.example.org', '--token-stdin'];
    expect(await cli.run(args, { stdin: 'hgt_x' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--insecure-http'),
    });
  });

  test('contexts are added, used and removed, and the list has no tokens', async () => {
    await cli.run(['context', 'add', 'lab', '--server', 'https://lab.example.org', '--token-stdin'], {
      stdin: 'hgt_lab',
    });
    await login(['--name', 'prod']);
    await cli.run(['context', 'use', 'lab']);
    const { stdout } = await cli.run(['context', 'list']);
    expect(stdout.replace(/ +/g, ' ')).toBe(
      `CURRENT NAME SERVER TOKEN\n* lab https://lab.example.org yes\n- prod ${service.url} yes\n`,
    );
    expect(readFileSync(cli.configPath, 'utf8')).toContain('hgt_lab');
    await cli.run(['context', 'remove', 'lab']);
    expect(readFileSync(cli.configPath, 'utf8')).not.toContain('hgt_lab');
    expect(await cli.json(['context', 'list'])).toMatchObject([{ name: 'prod', current: false }]);
  });

  test.each([
    [['context', 'use', 'none'], 4],
    [['context', 'remove', '__proto__'], 4],
    [['context', 'add', '../x', '--server', 'https://a'], 2],
    [['context', 'add', 'x'], 2],
    [['context', 'add', 'x', '--server', 'https://a', '--cacert', '/none'], 2],
  ])('refuses %j', async (args, code) => {
    expect(await cli.run(args)).toMatchObject({ code, stdout: '' });
  });

  test('a token on the command line is no option', async () => {
    const { code, stderr } = await cli.run(['list', '--token', 'hgt_x']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/unknown option '--token'/);
  });

  test('a file that others can read is refused by every command that would use it', async () => {
    await login();
    chmodSync(cli.configPath, 0o644);
    const sent = service.requests.length;
    for (const args of [['list'], ['context', 'list'], ['context', 'use', 'x']])
      expect(await cli.run(args)).toMatchObject({ code: 3, stderr: expect.stringContaining('chmod 600') });
    expect(service.requests).toHaveLength(sent);
  });
});
