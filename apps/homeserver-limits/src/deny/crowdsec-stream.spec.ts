import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CrowdsecStream } from './crowdsec-stream.js';

const KEY = '837be58e22a28738066de1be8f53636b';

/** A decision as the local API writes it. */
const decision = (value: string, more: object = {}) => ({
  duration: '3h59m57.5s',
  id: 1,
  origin: 'crowdsec',
  scenario: 'crowdsecurity/ssh-bf',
  scope: 'Ip',
  type: 'ban',
  uuid: '00000000-0000-0000-0000-000000000000',
  value,
  ...more,
});

describe('CrowdsecStream', () => {
  let server: Server;
  let requests: IncomingMessage[];
  /** The next answers, in order. */
  let answers: { status?: number; text: string }[];
  let nowMs: number;
  let stream: CrowdsecStream;
  let key: string;

  beforeEach(async () => {
    [requests, answers, nowMs, key] = [[], [], 0, KEY];
    server = createServer((request, response) => {
      requests.push(request);
      // As documented: without its key, a bouncer gets 403.
      if (request.headers['x-api-key'] !== KEY)
        return void response.writeHead(403).end('{"message":"access forbidden"}');
      const { status = 200, text } = answers.shift() ?? { text: '{"deleted":null,"new":null}' };
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    stream = new CrowdsecStream({ url, key: () => key, ownOrigin: 'homeserver-limits-0a', now: () => nowMs });
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const answer = (added: object[] | null, deleted: object[] | null = null) =>
    answers.push({ text: JSON.stringify({ deleted, new: added }) });
  const targets = () => requests.map(({ url }) => url);

  test('asks for everything first, and then for the changes', async () => {
    answer([decision('192.0.2.1'), decision('198.51.100.0/24', { scope: 'Range' }), decision('2001:db8::1')]);
    answer([decision('192.0.2.2')], [decision('192.0.2.1', { duration: '-1s' })]);
    expect(await stream.poll()).toBe(true);
    expect(stream.entries).toEqual(['192.0.2.1', '198.51.100.0/24', '2001:db8::1']);
    expect(await stream.poll()).toBe(true);
    expect(stream.entries).toEqual(['198.51.100.0/24', '2001:db8::1', '192.0.2.2']);
    expect(await stream.poll()).toBe(false);
    expect(targets()).toEqual(['true', 'false', 'false'].map((startup) => `/v1/decisions/stream?startup=${startup}`));
  });

  test('leaves out decisions that ban no address or network', async () => {
    answer([
      decision('192.0.2.1', { type: 'captcha' }),
      decision('192.0.2.2', { simulated: true }),
      decision('FR', { scope: 'Country' }),
      decision('nora', { scope: 'username' }),
      decision('192.0.2.3', { scope: 'ip', type: 'Ban' }),
      'nonsense' as never,
    ]);
    await stream.poll();
    expect([stream.entries, stream.skipped]).toEqual([['192.0.2.3'], 0]);
  });

  test('leaves out its own decisions, which come back from a local API or from itself', async () => {
    answer([
      decision('192.0.2.1', { origin: 'homeserver-limits-0a' }),
      decision('192.0.2.2', { origin: 'homeserver-limits-0b' }),
    ]);
    await stream.poll();
    expect(stream.entries).toEqual(['192.0.2.2']);
    // The end of an own block is none of a ban that another gateway has created.
    answer([decision('192.0.2.3')], [decision('192.0.2.2', { origin: 'homeserver-limits-0a', duration: '-1s' })]);
    await stream.poll();
    expect(stream.entries).toEqual(['192.0.2.2', '192.0.2.3']);
  });

  test('counts bans that no list may have, such as one of all addresses', async () => {
    answer([
      decision('0.0.0.0/0', { scope: 'Range' }),
      decision('example.org'),
      decision('192.0.2.1', { duration: 'soon' }),
    ]);
    await stream.poll();
    expect([stream.entries, stream.skipped]).toEqual([[], 3]);
  });

  test('ends a ban with its duration, and with the longest of several', async () => {
    answer([decision('192.0.2.1', { duration: '10s' }), decision('192.0.2.1', { duration: '20s' })]);
    await stream.poll();
    nowMs = 19_999;
    expect(stream.entries).toEqual(['192.0.2.1']);
    nowMs = 20_000;
    expect(stream.entries).toEqual([]);
  });

  test.each([
    ['an error', { status: 500, text: '' }, 'answered 500'],
    ['half of an answer', { text: '{"new":[' }, 'JSON'],
    ['something else', { text: '[]' }, 'is no object'],
    ['lists that are none', { text: '{"new":{}}' }, 'must be lists'],
  ])('keeps its bans after %s, and asks for everything again', async (_, failure, reason) => {
    answer([decision('192.0.2.1'), decision('192.0.2.2')]);
    await stream.poll();
    answers.push(failure);
    await expect(stream.poll()).rejects.toThrow(reason);
    expect(stream.entries).toEqual(['192.0.2.1', '192.0.2.2']);
    answer([decision('192.0.2.2')]);
    await stream.poll();
    expect(stream.entries).toEqual(['192.0.2.2']);
    expect(targets().at(-1)).toContain('startup=true');
  });

  test('says how to get a key that is accepted', async () => {
    key = 'old';
    await expect(stream.poll()).rejects.toThrow('the key was not accepted (403); create one with cscli bouncers add');
    key = KEY;
    expect(await stream.poll()).toBe(false);
  });
});
