import { AddressBlocks } from '../state/address-blocks.js';
import { OperatorFixture } from './testing/operator-fixture.js';

const KEY = 'key-of-the-firewall';
const TOKEN = 'operator-token-0123';

describe('the decisions for bouncers', () => {
  let fixture: OperatorFixture;
  let blocks: AddressBlocks;
  let nowMs: number;
  beforeEach(async () => {
    nowMs = Date.now();
    blocks = new AddressBlocks({ isInForce: () => true, now: () => nowMs });
    fixture = new OperatorFixture();
    await fixture.open({ operator: TOKEN }, { blocks, bouncers: { firewall: KEY, other: 'key-of-another-one' } });
  });
  afterEach(() => fixture.close());

  const block = (key: string, rule = 'ring') =>
    blocks.note({ rule, by: 'source', key, limit: 1, windowMs: 1, reason: 'block', retryAfterMs: 3_600_000 });
  const ask = (path: string, { key = KEY, method = 'GET', more = {} } = {}) =>
    fixture.ask(path, { 'X-Api-Key': key, ...more }, method);
  const stream = async (query = '', key = KEY) => {
    const { body } = await ask(`/v1/decisions/stream${query}`, { key });
    const values = (list: unknown) => (list as { value: string }[] | null)?.map(({ value }) => value) ?? null;
    return { added: values(body.new), deleted: values(body.deleted) };
  };

  test('are written as the local API of CrowdSec does', async () => {
    const none = await ask('/v1/decisions');
    expect([none.status, none.text, none.headers['content-type']]).toEqual([
      200,
      'null',
      'application/json; charset=utf-8',
    ]);
    expect((await ask('/v1/decisions/stream?startup=true')).text).toBe('{"deleted":null,"new":null}');
    block('192.0.2.1');
    block('2001:db8:1:2::/64');
    expect((await ask('/v1/decisions?ip=192.0.2.1')).body).toEqual([
      {
        duration: expect.stringMatching(/^(?:1h0m0|59m\d+(?:\.\d+)?)s$/),
        id: 1,
        origin: blocks.origin,
        scenario: 'homeserver-limits/ring',
        scope: 'Ip',
        type: 'ban',
        value: '192.0.2.1',
      },
    ]);
    const [, range] = (await ask('/v1/decisions')).body as never as object[];
    expect(range).toMatchObject({ id: 2, scope: 'Range', value: '2001:db8:1:2::/64' });
  });

  test('are everything first, and then the changes, for each bouncer on its own', async () => {
    block('192.0.2.1');
    expect(await stream('?startup=true')).toEqual({ added: ['192.0.2.1'], deleted: null });
    expect(await stream()).toEqual({ added: null, deleted: null });
    block('192.0.2.2');
    expect(await stream('?startup=false')).toEqual({ added: ['192.0.2.2'], deleted: null });
    expect(await stream('', 'key-of-another-one')).toEqual({ added: ['192.0.2.1', '192.0.2.2'], deleted: null });
    nowMs += 3_600_000;
    expect(await stream()).toEqual({ added: null, deleted: ['192.0.2.1', '192.0.2.2'] });
    expect(await stream('?startup=true')).toEqual({ added: null, deleted: ['192.0.2.1', '192.0.2.2'] });
    const [ended] = ((await ask('/v1/decisions/stream?startup=true')).body.deleted ?? []) as { duration: string }[];
    expect(ended?.duration).toBe('-1s');
  });

  test('stay for the next request when only their head was asked for', async () => {
    block('192.0.2.1');
    const head = await ask('/v1/decisions/stream?startup=true', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await ask('/v1/decisions', { method: 'HEAD' })).status).toBe(200);
    expect(await stream()).toEqual({ added: ['192.0.2.1'], deleted: null });
  });

  test('end when an operator lifts the block', async () => {
    block('192.0.2.1');
    block('192.0.2.2');
    await stream('?startup=true');
    const operator = { Authorization: `Bearer ${TOKEN}` };
    expect((await fixture.ask('/rates/ring?key=192.0.2.1', operator, 'DELETE')).status).toBe(200);
    expect(await stream()).toEqual({ added: null, deleted: ['192.0.2.1'] });
  });

  test('are for bouncers with a key only, and their keys open nothing else', async () => {
    block('192.0.2.1');
    for (const key of ['', 'x', KEY.slice(1), `${KEY}x`, TOKEN]) {
      const refused = await ask('/v1/decisions', { key });
      expect([refused.status, refused.body]).toEqual([403, { message: 'access forbidden' }]);
    }
    const operator = { Authorization: `Bearer ${TOKEN}` };
    expect((await fixture.ask('/v1/decisions', operator)).status).toBe(403);
    expect((await fixture.ask(`/v1/decisions?api_key=${KEY}`)).status).toBe(403);
    for (const path of ['/rules', '/refusals', '/journal', '/metrics']) {
      expect((await ask(path)).status).toBe(401);
      expect((await fixture.ask(path, { Authorization: `Bearer ${KEY}` })).status).toBe(401);
    }
  });

  test('are not for web pages', async () => {
    expect((await ask('/v1/decisions', { more: { Origin: 'https://evil.example' } })).status).toBe(403);
    expect((await ask('/v1/decisions', { more: { 'Sec-Fetch-Site': 'cross-site' } })).status).toBe(403);
  });

  test.each([
    ['GET', '/v1/decisions?until=1h', 400],
    ['GET', '/v1/decisions?ip=junk', 400],
    ['GET', '/v1/decisions/stream?scopes=ip&scopes=range', 400],
    ['DELETE', '/v1/decisions', 404],
    ['POST', '/v1/usage-metrics', 404],
    ['POST', '/v1/alerts', 404],
    ['GET', '/v1/decisions/1', 404],
  ])('answer %s %s with %i and a message', async (method, path, status) => {
    const { body, ...answer } = await ask(path, { method });
    expect([answer.status, typeof body.message]).toEqual([status, 'string']);
  });
});

test('without keys, a listener for everyone on the machine has no decisions', async () => {
  const fixture = new OperatorFixture();
  await fixture.open();
  expect((await fixture.ask('/v1/decisions', { 'X-Api-Key': '' })).status).toBe(403);
  await fixture.close();
});
