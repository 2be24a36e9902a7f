import { RuleEngine, ruleOf } from '@headgate/limit-rules';
import { OperatorFixture } from './testing/operator-fixture.js';

const TOKEN = 'operator-token-0123';

describe('OperatorListener', () => {
  let fixture: OperatorFixture;
  beforeEach(() => {
    fixture = new OperatorFixture();
  });
  afterEach(() => fixture.close());

  const open = (token?: string) => fixture.open(token === undefined ? {} : { operator: token });
  const ask: OperatorFixture['ask'] = (...args) => fixture.ask(...args);

  test.each([['2001:db8:0:0::/64'], ['@a+b/c:b.example'], ['user:al ice'], ['user:é%'], ['a&key=b']])(
    'finds and resets the encoded key %s',
    async (key) => {
      await open();
      fixture.windows.count(fixture.rate, key);
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
      fixture.windows,
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
    const [cap] = fixture.ledger.caps;
    fixture.ledger.reconcile(cap!, '@a:b', 2);
    expect((await ask('/held?holder=@a:b')).body.caps).toEqual({ pushers: { held: 2, limit: 3 } });
    expect((await ask('/held?holder=@c:b')).body.caps).toEqual({ pushers: { held: null, limit: 3 } });
  });

  test('lists the latest refusals with the rule and the reason, the newest first', async () => {
    await open();
    for (const key of ['@a:b', '@c:b']) fixture.refusals.cap('pushers', { key, limit: 3 });
    fixture.refusals.cap('filters', { key: '@d:b', limit: 5 });
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
    fixture.readiness.isReady = false;
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
