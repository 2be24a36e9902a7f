import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const FILTER = resolve(
  import.meta.dirname,
  '../../../deploy/homeserver-limits/fail2ban/filter.d/homeserver-limits.conf',
);
const REFUSED = 'a request was refused';
const isInstalled = spawnSync('fail2ban-regex', ['--version']).status === 0;
const withProgram = isInstalled ? test : test.skip;
/** Names that would be addresses if the filter misread them. */
const HOSTILE = [
  'x","address":"192.0.2.66","msg":"a request was refused"}',
  '"reason":"limit","address":"192.0.2.66"',
  '\\","address":"192.0.2.66","',
  '\n{"level":30,"reason":"limit","address":"192.0.2.66","msg":"a request was refused"}',
];

describe('the filter for fail2ban', () => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  let expression: RegExp;

  beforeAll(async () => {
    const text = readFileSync(FILTER, 'utf8');
    const [, failregex = ''] = /^failregex = (.*)$/m.exec(text) ?? [];
    expression = new RegExp(failregex.replace('<ADDR>', '(?<address>[0-9A-Fa-f:.]+)'));
    upstream = await RecordingUpstream.listen();
    upstream.respond = (_request, response) => response.writeHead(403).end('{"errcode":"M_FORBIDDEN"}');
    limits = await LimitsProcess.prepare('');
    const denied = join(limits.folder, 'denied.txt');
    writeFileSync(denied, '203.0.113.40\n');
    await limits.configure(
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${upstream.url}"\n` +
        `[rates.login_account]\nlimit = 1\n[[rules]]\nname = "names"\non = ["register_available"]\nby = "source"\n` +
        `limit = 1\nwindow = "1h"\nshadow = true\n[[deny]]\nname = "abuse"\nfile = "${denied}"\n`,
    );
    await limits.launch();
  });
  afterAll(async () => {
    await limits.dispose();
    await upstream.close();
  });

  /** The lines of the log that come with some work. */
  async function linesOf(count: number, work: () => Promise<unknown>): Promise<string[]> {
    const before = limits.log.length;
    await work();
    const isRefusal = ({ msg }: { msg: string }) => /^a request (?:was|would be) refused$/.test(msg);
    while (limits.log.slice(before).filter(isRefusal).length < count)
      await new Promise((resume) => setImmediate(resume));
    return limits.lines.slice(before);
  }
  const login = (user: string, from: string) =>
    call(limits.url, 'POST', '/_matrix/client/v3/login', {
      body: { type: 'm.login.password', user, password: 'x' },
      from,
    });
  const addressesIn = (lines: readonly string[]) =>
    lines.flatMap((line) => expression.exec(line)?.groups?.address ?? []);

  test('finds the address of each refused request in the log, from a file and from the journal', async () => {
    const lines = await linesOf(3, async () => {
      for (const from of ['203.0.113.5', '203.0.113.5']) await login('nora', from);
      for (const from of ['2001:db8::5', '2001:db8::5']) await login('ada', from);
      await call(limits.url, 'GET', '/_matrix/client/versions', { from: '203.0.113.40' });
    });
    const expected = ['203.0.113.5', '2001:db8::5', '203.0.113.40'];
    expect(addressesIn(lines)).toEqual(expected);
    expect(addressesIn(lines.map((line) => `host headgate[812]: ${line}`))).toEqual(expected);
  });

  test('finds nothing else: not in names that callers choose, and not under shadow rules', async () => {
    const lines = await linesOf(HOSTILE.length + 1, async () => {
      for (const [index, name] of HOSTILE.entries())
        for (let i = 0; i < 2; i++) await login(name, `203.0.113.1${index}`);
      for (let i = 0; i < 2; i++)
        await call(limits.url, 'GET', '/_matrix/client/v3/register/available?username=a', { from: '203.0.113.20' });
    });
    expect(addressesIn(lines)).toEqual(HOSTILE.map((_, index) => `203.0.113.1${index}`));
    expect(lines.some((line) => line.includes('would be refused'))).toBe(true);
  });

  withProgram('is read by fail2ban itself as here', () => {
    const file = join(limits.folder, 'log.json');
    writeFileSync(file, `${limits.lines.join('\n')}\n`);
    const { stdout } = spawnSync('fail2ban-regex', ['--out', '<ip>', file, FILTER], { encoding: 'utf8' });
    expect(stdout.trim().split('\n')).toEqual(addressesIn(limits.lines));
    expect(limits.log.filter(({ msg }) => msg === REFUSED)).toHaveLength(addressesIn(limits.lines).length);
  });
});
