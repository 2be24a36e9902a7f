import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CapLedger, ManualClock, type Rate, MemoryRateLimiter } from '@headgate/limits-core';
import { RuleEngine, ruleOf } from '@headgate/limit-rules';
import { pino } from 'pino';
import { DecisionHistory } from '../metrics/decision-history.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { RecentRequests } from '../reports/recent-requests.js';
import { RefusalLog } from '../reports/refusal-log.js';
import { parseConfig } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { OperatorJournal } from '../state/operator-journal.js';
import { Overrides } from '../state/overrides.js';
import { OperatorListener } from './operator-listener.js';

const TOKEN = 'operator-token-0123';

describe('OperatorListener', () => {
  let windows: MemoryRateLimiter;
  let rate: Rate;
  let ledger: CapLedger;
  let listener: OperatorListener | undefined;
  let refusals: RefusalLog;
  let readiness: { isReady: boolean };
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'limits-operator-'));
    windows = new MemoryRateLimiter({ clock: new ManualClock() });
    rate = windows.define('ring', { limit: 2, windowMs: 60_000 });
    ledger = new CapLedger();
    ledger.define('pushers', { limit: 3, resource: 'pushers' });
  });
  afterEach(async () => {
    await listener?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (token?: string): Promise<void> => {
    const log = pino({ level: 'silent' });
    refusals = new RefusalLog(log, () => false);
    readiness = { isReady: true };
    listener = new OperatorListener({
      listen: '127.0.0.1:0',
      ...(token !== undefined && { tokens: { operator: token } }),
      journal: new OperatorJournal(folder),
      recent: new RecentRequests(),
      history: new DecisionHistory(),
      windows,
      store: windows,
      ledger,
      log,
      refusals,
      overrides: new Overrides(),
      config: new LiveConfig(parseConfig('')),
      readiness,
      metrics: new LimitsMetrics(windows),
    });
    await listener.listen();
  };

  async function ask(target: string, headers: Record<string, string> = {}, method = 'GET') {
    const { hostname, port } = new URL(listener?.url ?? '');
    const { promise, resolve, reject } = Promise.withResolvers<{ status?: number; body: Record<string, unknown> }>();
    const outgoing = request({ hostname, port, path: target, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve({ status: response.statusCode, body: JSON.parse(text) }));
    });
    outgoing.once('error', reject).end();
    return promise;
  }

  test.each([['2001:db8:0:0::/64'], ['@a+b/c:b.example'], ['user:al ice'], ['user:é%'], ['a&key=b']])(
    'finds and resets the encoded key %s',
    async (key) => {
      await open();
      windows.count(rate, key);
      const target = `/rates/ring?key=${encodeURIComponent(key)}`;
      expect((await ask(target)).body).toMatchObject({ rate: 'ring', key, counted: 1, limit: 2 });
      expect((await ask(target, {}, 'DELETE')).body).toEqual({ rate: 'ring', key, forgiven: true });
      expect((await ask(target)).body).toMatchObject({ counted: 0 });
    },
  );

  test('resets the block of a key with its window, and the refusals that lead to the next one', async () => {
    await open();
    const exempt = { users: [], appservices: [], networks: [] };
    const block = { after: 2, withinMs: 60_000, forMs: 600_000, maxMs: 600_000, forgetMs: 600_000 };
    const rule = ruleOf({ name: 'messages', on: ['message'], by: 'user', limit: 1, windowMs: 60_000, block });
    const engine = new RuleEngine(
      windows,
      { onGranted: () => undefined, onRefused: () => undefined },
      { rules: [rule], exempt },
    );
    const send = () => engine.admit([{ event: 'message', user: '@a:b', address: '192.0.2.1', source: '192.0.2.1' }]);
    for (let n = 0; n < 4; n++) void send();
    expect(send()).toMatchObject({ reason: 'block' });
    const target = '/rates/messages?key=@a:b';
    expect((await ask(target, {}, 'DELETE')).body).toMatchObject({ forgiven: true });
    expect(send()).toMatchObject({ granted: true });
    expect(send()).toMatchObject({ reason: 'limit' });
    expect((await ask('/rates/messages.block?key=@a:b')).body).toMatchObject({ counted: 0 });
    expect((await ask('/rates/messages?key=@c:b', {}, 'DELETE')).body).toMatchObject({ forgiven: false });
  });

  test('reports known counts, and null for unknown ones', async () => {
    await open();
    const [cap] = ledger.caps;
    ledger.reconcile(cap!, '@a:b', 2);
    expect((await ask('/held?holder=@a:b')).body.caps).toEqual({ pushers: { held: 2, limit: 3 } });
    expect((await ask('/held?holder=@c:b')).body.caps).toEqual({ pushers: { held: null, limit: 3 } });
  });

  test('lists the latest refusals with the rule and the reason, the newest first', async () => {
    await open();
    for (const key of ['@a:b', '@c:b']) refusals.cap('pushers', { key, limit: 3 });
    refusals.cap('filters', { key: '@d:b', limit: 5 });
    const keys = async (query: string) =>
      ((await ask(`/refusals${query}`)).body.refusals as { key: string }[]).map(({ key }) => key);
    expect(await keys('')).toEqual(['@d:b', '@c:b', '@a:b']);
    expect(await keys('?rule=pushers')).toEqual(['@c:b', '@a:b']);
    expect(await keys('?rule=pushers&limit=1')).toEqual(['@c:b']);
    for (const query of ['?limit=0', '?limit=x', '?rule=a&rule=b']) {
      expect((await ask(`/refusals${query}`)).status).toBe(400);
    }
  });

  test('answers probes without a token, and nothing else', async () => {
    await open(TOKEN);
    expect(await ask('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect((await ask('/readyz', { Host: '10.0.0.7:9008' })).status).toBe(200);
    readiness.isReady = false;
    expect((await ask('/readyz')).status).toBe(503);
    expect((await ask('/healthz')).status).toBe(200);
    for (const path of ['/rules', '/refusals', '/metrics', '/healthz/x']) expect((await ask(path)).status).toBe(401);
  });

  test('requires exactly its token', async () => {
    await open(TOKEN);
    expect((await ask('/rules', { Authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    for (const given of ['', 'Bearer ', `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, `Basic ${TOKEN}`, TOKEN]) {
      expect((await ask('/rules', { Authorization: given })).status).toBe(401);
    }
    expect((await ask(`/rules?access_token=${TOKEN}`)).status).toBe(401);
  });

  test.each([['http://127.0.0.1'], ['null'], ['']])('refuses web pages (Origin: %j), token or not', async (origin) => {
    await open(TOKEN);
    expect((await ask('/rules', { Authorization: `Bearer ${TOKEN}`, Origin: origin })).status).toBe(403);
  });

  test.each([['evil.example'], ['127.0.0.1.evil.example'], ['localhost.evil.example:1'], ['10.0.0.1:80']])(
    'without a token, refuses the host %j, under which a page could reach it',
    async (host) => {
      await open();
      expect((await ask('/rules', { Host: host })).status).toBe(403);
    },
  );

  test.each([
    ['//', 404],
    ['//[', 404],
    ['/', 404],
    ['/rates/nothing?key=x', 404],
    ['/rates/__proto__?key=x', 404],
    ['/rates/ring/x?key=x', 404],
    ['/rates/ring', 400],
    ['/rates/ring?key=', 400],
    ['/held', 400],
  ])('responds to GET %s with %i in the Matrix format', async (target, status) => {
    await open();
    const response = await ask(target);
    expect([response.status, typeof response.body.errcode]).toEqual([status, 'string']);
  });

  test.each([['POST'], ['PUT'], ['DELETE'], ['PATCH']])('does not accept %s for its rules', async (method) => {
    await open();
    expect((await ask('/rules', {}, method)).status).toBe(404);
  });
});
