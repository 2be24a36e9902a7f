import { get } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { OperatorFixture } from './testing/operator-fixture.js';

const ALICE = 'operator-token-alice';
const BOB = 'operator-token-bob-0';
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe("the operator's desk", () => {
  let fixture: OperatorFixture;
  beforeEach(() => {
    fixture = new OperatorFixture();
  });
  afterEach(() => fixture.close());

  const as = (token: string, more: Record<string, string> = {}) => ({ Authorization: `Bearer ${token}`, ...more });
  const openWithTokens = () => fixture.open({ alice: ALICE, bob: BOB });
  const lift = (key: string, token = ALICE, more = {}) =>
    fixture.ask(
      '/lifts',
      as(token, { ...JSON_TYPE, ...more }),
      'POST',
      JSON.stringify({ rule: 'ring', key, reason: 'a call' }),
    );

  test('is a page without data, which strangers may load, under a policy without inline scripts and frames', async () => {
    await openWithTokens();
    for (const [path, type] of [
      ['/desk', 'text/html'],
      ['/desk/app.js', 'text/javascript'],
      ['/desk/style.css', 'text/css'],
    ] as const) {
      const { status, headers, text } = await fixture.ask(path);
      expect([status, headers['content-type']]).toEqual([200, `${type}; charset=utf-8`]);
      expect(text).toBe(`the ${path === '/desk' ? 'index.html' : path.slice('/desk/'.length)}`);
    }
    for (const name of ['operators.jsonl', '..%2foperators.jsonl', '%2e%2e', 'toString', 'app.js%00', '__proto__'])
      expect((await fixture.ask(`/desk/${name}`)).status).toBe(404);
  });

  test.each([['/desk'], ['/rules'], ['/healthz'], ['/nothing'], ['/%zz']])('sends its policy with %s', async (path) => {
    await openWithTokens();
    const { headers } = await fixture.ask(path);
    const policy = String(headers['content-security-policy']);
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"])
      expect(policy).toContain(part);
    expect(policy).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  test.each([
    ['GET', '/operator'],
    ['GET', '/why?subject=a'],
    ['GET', '/refusals/stream'],
    ['GET', '/decisions'],
    ['GET', '/journal'],
    ['POST', '/lifts'],
    ['POST', '/replay'],
    ['PUT', '/overrides/ring?key=@a:b'],
    ['DELETE', '/rates/ring?key=@a:b'],
  ])('refuses %s %s without a token', async (method, path) => {
    await openWithTokens();
    expect((await fixture.ask(path, {}, method)).status).toBe(401);
    expect((await fixture.ask(path, { Cookie: `token=${ALICE}` }, method)).status).toBe(401);
    expect((await fixture.ask(path, as('operator-token-carol'), method)).status).toBe(401);
  });

  test('knows operators by their tokens', async () => {
    await openWithTokens();
    expect((await fixture.ask('/operator', as(ALICE))).body).toEqual({ operator: 'alice' });
    expect((await fixture.ask('/operator', as(BOB))).body).toEqual({ operator: 'bob' });
  });

  test('admits its own page, and no page of another site or another port', async () => {
    await openWithTokens();
    const { host } = new URL(fixture.url);
    fixture.windows.count(fixture.rate, '@a:b');
    for (const foreign of [
      { Origin: 'http://evil.example' },
      { Origin: 'null' },
      { Origin: `http://${host}.evil.example` },
      { Origin: `http://evil.example/${host}` },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { Origin: `http://${host}`, 'Sec-Fetch-Site': 'cross-site' },
    ]) {
      expect([foreign, (await lift('@a:b', ALICE, foreign)).status]).toEqual([foreign, 403]);
      expect((await fixture.ask('/journal', as(ALICE, foreign as Record<string, string>))).status).toBe(403);
    }
    const own = { Origin: `http://${host}`, 'Sec-Fetch-Site': 'same-origin' };
    expect((await lift('@a:b', ALICE, own)).body).toMatchObject({ lifted: true });
  });

  test('a form of another site can not lift on a listener without a token', async () => {
    await fixture.open();
    fixture.windows.count(fixture.rate, '@a:b');
    const form = { Origin: 'http://evil.example', 'Content-Type': 'application/x-www-form-urlencoded' };
    expect((await fixture.ask('/lifts', form, 'POST', 'rule=ring&key=@a:b&reason=x')).status).toBe(403);
    expect((await fixture.ask('/journal')).body).toEqual({ journal: [] });
  });

  test('of two operators who lift a key at the same time, one lifts it, and the other one learns who', async () => {
    await openWithTokens();
    for (const _ of [1, 2]) fixture.windows.count(fixture.rate, '@a:b');
    const answers = await Promise.all([lift('@a:b', ALICE), lift('@a:b', BOB)]);
    const [first, second] = answers.map(({ body }) => body).sort((a, b) => Number(b.lifted) - Number(a.lifted));
    expect(first).toEqual({ rule: 'ring', key: '@a:b', lifted: true });
    expect(second).toMatchObject({ lifted: false, previous: { reason: 'a call' } });
    const { journal } = (await fixture.ask('/journal', as(ALICE))).body as { journal: Record<string, unknown>[] };
    expect(journal.map(({ result }) => result)).toEqual(['nothing', 'done']);
    expect(new Set(journal.map(({ operator }) => operator))).toEqual(new Set(['alice', 'bob']));
  });

  test('has every change in the journal, also of other programs', async () => {
    await openWithTokens();
    const until = new Date(Date.now() + 60_000).toISOString();
    const override = JSON.stringify({ factor: 2, until, reason: 'a party' });
    await fixture.ask('/overrides/ring?key=@a:b', as(BOB, JSON_TYPE), 'PUT', override);
    await fixture.ask('/overrides/ring?key=@a:b&reason=over', as(BOB), 'DELETE');
    await fixture.ask('/overrides/ring?key=@a:b', as(BOB), 'DELETE');
    await fixture.ask('/rates/ring?key=@a:b', as(ALICE), 'DELETE');
    const { journal } = (await fixture.ask('/journal?limit=10', as(ALICE))).body as {
      journal: Record<string, unknown>[];
    };
    expect(journal).toMatchObject([
      { action: 'lift', operator: 'alice', address: '127.0.0.1', result: 'nothing' },
      { action: 'delete_override', result: 'nothing' },
      { action: 'delete_override', operator: 'bob', reason: 'over', result: 'done' },
      { action: 'set_override', key: '@a:b', reason: 'a party', detail: `2 times until ${until}`, result: 'done' },
    ]);
  });

  test.each([
    [{}, 400],
    [{ rule: 'ring', key: '@a:b' }, 400],
    [{ rule: 'ring', key: '@a:b', reason: ' ' }, 400],
    [{ rule: 'ring', key: '@a:b', reason: 'x'.repeat(201) }, 400],
    [{ rule: 'ring', key: ['@a:b'], reason: 'x' }, 400],
    [{ rule: 'none', key: '@a:b', reason: 'x' }, 404],
    [{ rule: '__proto__', key: '@a:b', reason: 'x' }, 404],
    [{ rule: 'ring', key: '@a:b', reason: 'x', more: 'y'.repeat(2_000) }, 413],
  ])('answers a lift of %j with %i, and records nothing', async (body, status) => {
    await openWithTokens();
    expect((await fixture.ask('/lifts', as(ALICE, JSON_TYPE), 'POST', JSON.stringify(body))).status).toBe(status);
    expect((await fixture.ask('/journal', as(ALICE))).body).toEqual({ journal: [] });
  });

  test('accepts proposals of up to 64 KiB', async () => {
    await openWithTokens();
    const propose = (length: number) =>
      fixture.ask('/replay', as(ALICE, JSON_TYPE), 'POST', JSON.stringify({ rules: '#'.repeat(length) }));
    expect((await propose(60_000)).body).toMatchObject({ errcode: 'M_NOT_FOUND' });
    expect((await propose(70_000)).status).toBe(413);
  });

  test('streams refusals until the listener closes', async () => {
    await openWithTokens();
    fixture.refusals.cap('pushers', { key: '<b>' });
    const [response] = (await once(
      get(`${fixture.url}/refusals/stream`, { headers: as(ALICE), agent: false }),
      'response',
    )) as [IncomingMessage];
    expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    while (!text.includes('<b>')) await once(response, 'data');
    fixture.refusals.cap('pushers', { key: 'next' });
    while (!text.includes('next')) await once(response, 'data');
    const ended = new Promise((resolve) => response.once('close', resolve).once('error', () => undefined));
    await fixture.close();
    await ended;
  });
});
