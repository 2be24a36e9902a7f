import 'reflect-metadata';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buildContainer, MemoryBackend } from '@headgate/testing';
import { Edge } from '../testing/edge.js';
import { MAX_FOLLOWERS_PER_CALLER } from './log-connections.js';

const LOGS = '/api/ext/cts/default/box/logs';
const REF = buildContainer().ref;

describe('the log of a container', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge(new MemoryBackend('lab')).open();
  });
  afterEach(() => edge.close());

  const read = (query = '') => edge.send('GET', `${LOGS}${query}`);
  const write = (...lines: string[]): void => {
    for (const line of lines) edge.lab.logs.write(REF, line);
  };
  /** A client that follows over a real connection. */
  const follow = async (query = '', headers: Record<string, string> = {}): Promise<IncomingMessage> => {
    const request = get(`http://${edge.base}${LOGS}?follow=true${query}`, { headers });
    request.on('error', () => undefined);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    return response;
  };
  const until = async (response: IncomingMessage, text: string): Promise<string> => {
    let received = '';
    while (!received.includes(text)) received += String((await once(response, 'data'))[0]);
    return received;
  };
  /** `once` would reject with the error of a response that was broken off. */
  const closed = (response: IncomingMessage): Promise<void> =>
    new Promise((resolve) => void response.once('close', resolve));
  const untilFollowers = async (count: number): Promise<void> => {
    while (edge.lab.logs.followerCount !== count) await new Promise(setImmediate);
  };

  test('is plain text that no browser takes for something else, and is stored nowhere', async () => {
    write('<script>alert(1)</script>');
    const { status, headers, body } = await read();
    expect([status, body]).toEqual([200, 'ready\n<script>alert(1)</script>\n']);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store, no-transform',
    });
  });

  test('has the last lines, those since a time, and the times', async () => {
    write('one', 'two');
    expect((await read('?tail=1')).body).toBe('two\n');
    expect((await read('?tail=2&timestamps=true')).body).toBe(
      '2026-01-02T00:00:01.000Z one\n2026-01-02T00:00:02.000Z two\n',
    );
    expect((await read('?since=2026-01-02T01:00:02%2B01:00')).body).toBe('two\n');
  });

  test('has 1000 lines by default', async () => {
    write(...Array.from({ length: 1500 }, (_none, index) => `line ${index}`));
    expect((await read()).body.trimEnd().split('\n')).toHaveLength(1000);
    expect((await read('?tail=1400')).body.trimEnd().split('\n')).toHaveLength(1400);
  });

  test('keeps bytes as they are: control characters, and lines without an end', async () => {
    const line = `\u001b[2J\u0007\u202e${'x'.repeat(200_000)}`;
    write(line);
    expect((await read('?tail=1')).body).toBe(`${line}\n`);
  });

  test.each([
    ['tail=0'],
    ['tail=-1'],
    ['tail=100001'],
    ['tail=1e3'],
    ['tail=1&tail=2'],
    ['since=yesterday'],
    ['since=2026-13-01'],
    ['follow=yes'],
    ['follow=true&previous=true'],
    ['timestamps=1'],
  ])('refuses ?%s', async (query) => {
    const { status, json } = await read(`?${query}`);
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
  });

  test('refuses a stopped container with the reason, also for one that follows', async () => {
    await edge.send('POST', '/api/cts/default/box/stop');
    for (const query of ['', '?follow=true']) {
      const { status, json, headers } = await read(query);
      expect([status, json.code]).toEqual([409, 'WRONG_STATE']);
      expect(headers['content-type']).toMatch(/^application\/json/);
    }
    expect((await edge.send('GET', '/api/ext/cts/default/none/logs')).status).toBe(404);
    expect((await edge.send('GET', '/api/ext/cts/default/db/logs')).status).toBe(404);
  });

  test('answers HEAD without opening it', async () => {
    const head = await edge.send('HEAD', `${LOGS}?follow=true`);
    expect([head.status, head.body]).toEqual([200, '']);
    expect(edge.lab.logs.followerCount).toBe(0);
  });

  test('is followed line by line, until the client leaves', async () => {
    const response = await follow();
    expect(await until(response, 'ready\n')).toBe('ready\n');
    write('next');
    expect(await until(response, 'next\n')).toBe('next\n');
    expect(edge.lab.logs.followerCount).toBe(1);
    response.destroy();
    await untilFollowers(0);
  });

  test('ends with the container, and breaks off with the backend', async () => {
    const ended = await follow();
    ended.resume();
    await untilFollowers(1);
    edge.lab.logs.endFollowers();
    await once(ended, 'end');
    const broken = await follow();
    await untilFollowers(1);
    edge.lab.logs.endFollowers(new Error('The node is gone.'));
    broken.resume();
    await closed(broken);
    expect(broken.complete).toBe(false);
  });

  test('has a limited number of followers for each caller, whose places become free again', async () => {
    const followers: IncomingMessage[] = [];
    for (let count = 0; count < MAX_FOLLOWERS_PER_CALLER; count++) followers.push(await follow());
    const refused = await follow();
    expect(refused.statusCode).toBe(429);
    expect(await until(refused, '}')).toContain('TOO_MANY_STREAMS');
    // Reading without following is always possible.
    expect((await read()).status).toBe(200);
    followers.pop()?.destroy();
    await untilFollowers(MAX_FOLLOWERS_PER_CALLER - 1);
    const next = await follow();
    expect(next.statusCode).toBe(200);
    for (const one of [...followers, next]) one.destroy();
    await untilFollowers(0);
    // A refusal of the backend takes no place.
    await edge.send('POST', '/api/cts/default/box/stop');
    for (let count = 0; count <= MAX_FOLLOWERS_PER_CALLER; count++)
      expect((await read('?follow=true')).json.code).toBe('WRONG_STATE');
  });

  describe('that the backend does not open yet', () => {
    let opening: number;

    beforeEach(() => {
      opening = 0;
      edge.lab.logs.open = (_ref, _request, signal) => {
        opening++;
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            opening--;
            reject(signal.reason as Error);
          }),
        );
      };
    });
    const untilOpening = async (count: number): Promise<void> => {
      while (opening !== count) await new Promise(setImmediate);
    };

    test('is given up, with its place, when the client leaves', async () => {
      for (let count = 0; count <= MAX_FOLLOWERS_PER_CALLER; count++) {
        const request = get(`http://${edge.base}${LOGS}?follow=true`);
        request.on('error', () => undefined);
        await untilOpening(1);
        request.destroy();
        await untilOpening(0);
      }
      expect((await edge.send('GET', '/healthz')).status).toBe(200);
    });

    test('is refused when the service ends', async () => {
      const waiting = read('?follow=true');
      await untilOpening(1);
      const reopened = edge.reopen();
      const { status, json } = await waiting;
      expect([status, json.code]).toEqual([503, 'SHUTTING_DOWN']);
      await reopened;
    });
  });

  test('is no longer followed when the API token of the caller is revoked', async () => {
    const { json } = await edge.send('POST', '/api/ext/tokens', { name: 'reader', actions: ['read'], scope: {} });
    const response = await follow('', { authorization: `Bearer ${String(json['token'])}` });
    expect(response.statusCode).toBe(200);
    await until(response, 'ready');
    await edge.send('DELETE', `/api/ext/tokens/${String(json['id'])}`);
    response.resume();
    await closed(response);
    await untilFollowers(0);
  });

  test('is no longer followed when the service ends', async () => {
    const response = await follow();
    await until(response, 'ready');
    response.resume();
    const end = closed(response);
    await edge.reopen();
    await end;
    expect(response.complete).toBe(false);
  });
});
