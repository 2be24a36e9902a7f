import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { call } from './testing/http-client.js';
import { freePort } from './testing/ports.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const ROOT = resolve(import.meta.dirname, '../../..');
const PAGE = join(ROOT, 'docs/limits.md');
/** What the script of the workspace runs after it has installed and built. */
const MAIN = join(ROOT, 'apps/homeserver-limits/dist/main.js');
const START = 'npm run start:limits';

interface Block {
  language: string;
  text: string;
}

async function blocksOfPage(): Promise<Block[]> {
  const page = await readFile(PAGE, 'utf8');
  return [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text }));
}

describe("the operator's page, followed from the start", () => {
  let folder: string;
  let blocks: Block[];
  let upstream: RecordingUpstream;
  /** The addresses and folders of the page, and those of this run. */
  let replacements: [string, string][];
  const running: ChildProcess[] = [];
  const followed = new Set<Block>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'limits-page-'));
    blocks = await blocksOfPage();
    upstream = await RecordingUpstream.listen();
    const [main, operator] = [await freePort(), await freePort()];
    replacements = [
      ['0.0.0.0:8008', `127.0.0.1:${main}`],
      ['127.0.0.1:8008', `127.0.0.1:${main}`],
      ['127.0.0.1:9008', `127.0.0.1:${operator}`],
      ['http://127.0.0.1:8448', upstream.url],
      ['/var/lib/homeserver-limits', join(folder, 'data')],
      ['/run/secrets', folder],
      ['/etc/homeserver-limits', folder],
      ['127.0.0.1:8080', `127.0.0.1:${await freePort()}`],
      ['requests.jsonl', join(folder, 'requests.jsonl')],
    ];
  });
  afterEach(async () => {
    for (const child of running.splice(0)) {
      if (child.exitCode !== null) continue;
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  });
  afterAll(async () => {
    await upstream?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const here = (text: string): string => replacements.reduce((done, [from, to]) => done.replaceAll(from, to), text);
  /** The only block with this text, which is then followed. */
  function block(language: string, part: string): string {
    const found = blocks.filter(({ text, language: own }) => own === language && text.includes(part));
    expect(found).toHaveLength(1);
    followed.add(found[0]!);
    return here(found[0]!.text);
  }

  /** Runs a command of the page until it listens, as `npm run start:limits` does. */
  async function start(command: string): Promise<{ url: string; operator?: string }> {
    const [words = ''] = command.split('#', 1);
    expect(words.startsWith(START)).toBe(true);
    const args = words
      .slice(START.length)
      .trim()
      .split(/\s+/)
      .filter((word) => word !== '' && word !== '--');
    const listen = args.includes('--listen') ? [] : ['--listen', here('127.0.0.1:8008')];
    const child = spawn(process.execPath, [MAIN, ...args, ...listen], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    running.push(child);
    const { promise, resolve: onListening, reject } = Promise.withResolvers<{ url: string; operator?: string }>();
    let last = '';
    createInterface({ input: child.stdout }).on('line', (line) => {
      last = line;
      if (line.includes('homeserver-limits is listening')) onListening(JSON.parse(line) as { url: string });
    });
    child.once('exit', () => reject(new Error(`it did not start: ${last}`)));
    return promise;
  }
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  const withConfig = (toml: string) =>
    write('limits.toml', toml).then(() => start(`${START} -- --config limits.toml --data-dir ${join(folder, 'data')}`));

  test('starts without a configuration, and refuses the sixth wrong password as the page shows', async () => {
    const [first = ''] = block('sh', START).split('\n');
    await start(first);
    const login = block('sh', 'for i in 1 2 3 4 5 6');
    const { stdout, status } = spawnSync('bash', ['-c', login], { encoding: 'utf8' });
    expect(status).toBe(0);
    const expected = login.split('\n').filter((line) => line.startsWith('# '));
    const plain = (line: string) =>
      line
        .replace(/ {2,}.*$/, '')
        .replace(/^# /, '')
        .replace(/(\d+) seconds|"retry_after_ms":\d+/g, 'wait');
    const [refused = '', limited = ''] = expected.map(plain);
    expect(stdout.trim().split('\n').map(plain)).toEqual([...Array<string>(5).fill(refused), limited]);
  });

  test('starts in front of a homeserver with its configuration, and lists the shadow rate', async () => {
    await write('limits.toml', block('toml', 'upstream = "http://127.0.0.1:8448"'));
    const [, second = ''] = block('sh', START).split('\n');
    const { url, operator } = await start(here(second));
    expect(url).toBe(here('http://127.0.0.1:8008'));
    expect((await call(url, 'GET', '/_matrix/client/versions')).status).toBe(200);
    expect(upstream.last.target).toBe('/_matrix/client/versions');
    expect((await call(operator!, 'GET', '/readyz')).status).toBe(200);
  });

  test('accepts its rules', async () => {
    const { operator } = await withConfig(
      `${block('toml', '[rates.login_account]')}${here('[operator]\nlisten = "127.0.0.1:9008"\n')}`,
    );
    const { rates } = (await call(operator!, 'GET', '/rules')).body;
    const terms = rates.map(({ name, limit, windowMs }: Record<string, unknown>) => [name, limit, windowMs]);
    expect(terms).toContainEqual(['login_account', 10, 600_000]);
    expect(terms).toContainEqual(['invites', 60, 3_600_000]);
  });

  test('accepts its rules for an authentication service', async () => {
    const { operator } = await withConfig(
      `${block('toml', 'on = ["auth_login", "login"]')}${here('[operator]\nlisten = "127.0.0.1:9008"\n')}`,
    );
    const { rates } = (await call(operator!, 'GET', '/rules')).body as { rates: { name: string; on?: string[] }[] };
    const events = rates
      .filter(({ on }) => on?.some((event) => /^(?:auth|device)_/.test(event)))
      .map(({ name }) => name);
    expect(events).toEqual(['passwords', 'recovery_mails', 'user_codes']);
  });

  test('sets the override of its example', async () => {
    const { operator } = await withConfig(
      `${block('toml', '[rates.login_account]')}${here('[operator]\nlisten = "127.0.0.1:9008"\n')}`,
    );
    const { stdout, status } = spawnSync('bash', ['-c', block('sh', '/overrides/')], { encoding: 'utf8' });
    expect(status).toBe(0);
    const override = { rule: 'invites', key: '@bot:example.org', factor: 5, reason: 'migrates rooms' };
    expect(JSON.parse(stdout)).toMatchObject(override);
    expect((await call(operator!, 'GET', '/overrides')).body.overrides).toEqual([expect.objectContaining(override)]);
  });

  test('records requests, and replays them under other rules', async () => {
    const { url } = await withConfig(here('[log]\nrequests_file = "requests.jsonl"\n'));
    const body = { type: 'm.login.password', user: 'alice', password: 'wrong' };
    for (let i = 0; i < 4; i++) await call(url, 'POST', '/_matrix/client/v3/login', { body });
    const [child] = running;
    child!.kill('SIGTERM');
    await once(child!, 'exit');
    await write('proposed.toml', '[rates.login_account]\nlimit = 3\n');
    const [command = '', ...comments] = block('sh', 'homeserver-limits replay').trim().split('\n');
    const args = command.replace('homeserver-limits replay', 'replay').split(' ');
    const { stdout } = spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8', cwd: folder });
    const shape = (line: string) =>
      line
        .replace(/^# ?/, '')
        .replace(/^\w+: \d+ refused/, 'RULE refused')
        .replace(/[\d:.TZ-]+/g, 'N')
        .replace(/ {2}N {2}.*/, '  N  KEY');
    expect(stdout.trimEnd().split('\n').map(shape)).toEqual(comments.map(shape));
    expect(stdout).toContain('1 would be refused');
  });

  test('starts with the shared windows of its example, also while their server is unavailable', async () => {
    await write('redis', 'password\n');
    await write('limits', 'a long secret that all gateways know\n');
    const toml = block('toml', '[shared]').replace('redis.internal:6379', `127.0.0.1:${await freePort()}`);
    await withConfig(toml);
  });

  test('starts several processes with its deny lists, also while CrowdSec is unavailable', async () => {
    await write('abuse.txt', '192.0.2.0/24 # an example\n');
    await write('crowdsec', 'the key of the bouncer\n');
    const gateway = `[gateway]\nupstream = "${upstream.url}"\n`;
    const lists = block('toml', 'abuse.txt') + block('toml', 'key_file = ');
    const { url } = await withConfig(`${block('toml', 'workers = 4')}${gateway}${lists}`);
    expect((await call(url, 'GET', '/_matrix/client/versions')).status).toBe(200);
  });

  test('exports the blocks of addresses as its examples say, also while CrowdSec is unavailable', async () => {
    await write('crowdsec-machine', 'the password of the machine\n');
    const bouncers = block('toml', '[blocks.bouncers]');
    const blocking = '[rates.login_source]\nlimit = 2\nblock = { after = 1, for = "1h" }\n';
    const proxied = '[server]\ntrusted_proxies = ["127.0.0.0/8"]\n';
    const { url } = await withConfig(proxied + bouncers + block('toml', 'machine = ') + blocking);
    const body = { type: 'm.login.password', user: 'blocked', password: 'wrong' };
    for (let i = 0; i < 4; i++) await call(url, 'POST', '/_matrix/client/v3/login', { body, from: '198.51.100.7' });
    const [command = '', answer = ''] = block('sh', '/v1/decisions/stream').split('\n');
    const { stdout } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
    const plain = (text: string) =>
      text.replace(/(?:1h0m0|59m[\d.]+)s/, 'DURATION').replace(/limits-[0-9a-f]{8}/, 'limits-ID');
    expect(plain(stdout)).toBe(plain(answer.replace('# ', '')));
  });

  test('accepts its registration for calls', async () => {
    const yaml = block('yaml', 'homeserver-limits-calls');
    await write('calls.yaml', yaml.replace('as_token: …', 'as_token: one').replace('hs_token: …', 'hs_token: two'));
    const rtc = '[rtc]\nurl = "wss://sfu.example"\nkey = "key"\nsecret = "secret"\nregistration = "calls.yaml"\n';
    await withConfig(`[server]\nname = "example.org"\n[gateway]\nupstream = "${upstream.url}"\n${rtc}`);
  });

  test('has no example that these tests do not follow', () => {
    expect(blocks.filter((one) => !followed.has(one)).map(({ text }) => text)).toEqual([]);
  });
});
