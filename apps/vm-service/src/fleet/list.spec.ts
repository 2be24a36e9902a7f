import 'reflect-metadata';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createGunzip, gunzipSync } from 'node:zlib';
import { unreachable, Edge } from '../testing/edge.js';

/** Ends a stream that a failing test waits for, which would keep the process alive. */
const STREAM_TIMEOUT_MS = 20_000;

describe('GET /api/vms', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  test('answers every context in order, with the fields of the contract', async () => {
    const answer = await edge.send('GET', '/api/vms');
    const list = answer.json as unknown as Record<string, unknown>[];
    expect(list.map(({ ref }) => ref)).toEqual([
      'vm/lab/default/db',
      'vm/lab/default/twin',
      'vm/lab/default/web',
      'vm/other/default/twin',
    ]);
    expect(list[0]).toMatchObject({
      name: 'db',
      namespace: 'default',
      status: 'Running',
      ready: true,
      running: true,
      cpu: 2,
      mem: '4Gi',
      disk: '20Gi',
      ip: '192.0.2.5',
      node: 'memory-1',
      tags: [],
      context: 'lab',
      backend: 'memory',
    });
    expect(list[2]).not.toHaveProperty('ip');
    expect(list[2]).not.toHaveProperty('node');
  });

  test('answers 304 while nothing changes', async () => {
    const { headers } = await edge.send('GET', '/api/vms');
    const etag = String(headers['etag']);
    expect(etag).toMatch(/^"/);
    expect((await edge.send('GET', '/api/vms', undefined, { 'if-none-match': etag })).status).toBe(304);
    await edge.send('POST', '/api/vms/default/web/start');
    expect((await edge.send('GET', '/api/vms', undefined, { 'if-none-match': etag })).status).toBe(200);
  });

  test('is compressed for a client that accepts gzip, with an ETag of its own', async () => {
    const gzip = { 'accept-encoding': 'br, gzip' };
    const plain = await edge.send('GET', '/api/vms');
    const compressed = await edge.service.app.inject({ url: '/api/vms', headers: { host: 'localhost', ...gzip } });
    expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept, accept-encoding' });
    expect(gunzipSync(compressed.rawPayload).toString()).toBe(plain.body);
    const etag = String(compressed.headers.etag);
    expect(etag).not.toBe(plain.headers['etag']);
    expect((await edge.send('GET', '/api/vms', undefined, { ...gzip, 'if-none-match': etag })).status).toBe(304);
    expect((await edge.send('GET', '/api/vms', undefined, { 'if-none-match': etag })).status).toBe(200);
    await edge.send('POST', '/api/vms/default/web/start');
    expect((await edge.send('GET', '/api/vms', undefined, { ...gzip, 'if-none-match': etag })).status).toBe(200);
    const searched = await edge.service.app.inject({ url: '/api/vms?q=web', headers: { host: 'localhost', ...gzip } });
    expect(JSON.parse(String(gunzipSync(searched.rawPayload)))).toMatchObject([{ name: 'web', status: 'Running' }]);
  });

  test('never compresses what may contain secrets', async () => {
    for (const path of ['/api/vms/default/db', '/api/tasks', '/api/whoami', '/api/doctor']) {
      const { headers } = await edge.send('GET', path, undefined, { 'accept-encoding': 'gzip, br' });
      expect([path, headers['content-encoding']]).toEqual([path, undefined]);
    }
  });

  test('searches, sorts and pages', async () => {
    const names = async (query: string) =>
      ((await edge.send('GET', `/api/vms?${query}`)).json as unknown as { name: string }[]).map(({ name }) => name);
    expect(await names('q=running')).toEqual(['db']);
    expect(await names('sort=-name&context=lab')).toEqual(['web', 'twin', 'db']);
    const first = await edge.send('GET', '/api/vms?sort=name&limit=3');
    expect(await names(`sort=name&limit=3&cursor=${String(first.headers['svc-cursor'])}`)).toEqual(['web']);
  });

  test('shows the entries of a lost context as stale and marks the answer as partial', async () => {
    edge.lab.engine.disconnect(unreachable);
    const answer = await edge.send('GET', '/api/vms');
    expect([answer.status, answer.headers['svc-partial']]).toEqual([200, 'true']);
    expect((answer.json as unknown as { stale?: boolean }[]).map(({ stale }) => stale)).toEqual([
      true,
      true,
      true,
      undefined,
    ]);
    edge.lab.engine.reconnect();
    expect((await edge.send('GET', '/api/vms')).headers['svc-partial']).toBeUndefined();
  });

  test('answers 503 when no context can be reached, for reads and writes', async () => {
    edge.lab.engine.disconnect(unreachable);
    edge.other.engine.disconnect(unreachable);
    for (const [method, path, body] of [
      ['GET', '/api/vms'],
      ['GET', '/api/cts'],
      ['GET', '/api/nodes'],
      ['GET', '/api/capabilities'],
      ['GET', '/api/vms/default/db'],
      ['POST', '/api/vms/default/db/stop'],
      ['POST', '/api/vms', { name: 'new', image: 'tiny' }],
    ] as const) {
      const answer = await edge.send(method, path, body);
      expect([path, answer.status, answer.json.code]).toEqual([path, 503, 'BACKEND_UNREACHABLE']);
    }
    expect((await edge.send('GET', '/healthz')).body).toBe('ok\n');
  });

  test('streams one snapshot and then each change, and stays open while every context is lost', async () => {
    const abort = new AbortController();
    const answer = await fetch(`http://${edge.base}/api/vms`, {
      headers: { accept: 'text/event-stream' },
      signal: AbortSignal.any([abort.signal, AbortSignal.timeout(STREAM_TIMEOUT_MS)]),
    });
    expect(answer.headers.get('content-type')).toMatch('text/event-stream');
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(text)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`the stream ended before ${pattern}: ${text}`);
        text += value;
      }
    };
    await until(/event: snapshot\nid: .*\ndata: \[.*vm\/other\/default\/twin.*\n\n/);
    await edge.send('POST', '/api/vms/default/web/start');
    await until(/event: changed\n(?:id: .*\n)?data: \{"name":"web".*"status":"Running"/);
    await edge.send('DELETE', '/api/vms/default/web');
    await until(/event: removed\n(?:id: .*\n)?data: \{"ref":"vm\/lab\/default\/web"\}/);
    edge.lab.engine.disconnect(unreachable);
    edge.other.engine.disconnect(unreachable);
    await until(
      /event: status\n(?:id: .*\n)?data: \{"context":"other","backend":"memory","up":false,"reason":"lab does not answer\."\}/,
    );
    edge.lab.engine.reconnect();
    await until(/event: status\n(?:id: .*\n)?data: \{"context":"lab","backend":"memory","up":true/);
    abort.abort();
  });

  test('continues a stream after Last-Event-ID, and sends a snapshot for an unknown one', async () => {
    const follow = async (lastEventId: string, pattern: RegExp, query = ''): Promise<string> => {
      const abort = new AbortController();
      const answer = await fetch(`http://${edge.base}/api/vms${query}`, {
        headers: { accept: 'text/event-stream', ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
        signal: AbortSignal.any([abort.signal, AbortSignal.timeout(STREAM_TIMEOUT_MS)]),
      });
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!pattern.test(text)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`the stream ended before ${pattern}: ${text}`);
        text += value;
      }
      abort.abort();
      return text;
    };
    const first = await follow('nonsense', /event: snapshot\nid: .*\ndata: .*\n\n/);
    const [, id = ''] = /\nid: (.*)\n/.exec(first) ?? [];
    await edge.send('POST', '/api/vms/default/web/start');
    const second = await follow(id, /event: changed\n(?:id: .*\n)?data: \{"name":"web".*"status":"Running"/);
    expect(second).not.toContain('event: snapshot');
    const [, next = ''] = /event: changed\nid: (.*)\ndata: \{"name":"web".*"status":"Running"/.exec(second) ?? [];
    await edge.send('POST', '/api/vms/default/twin/start?context=lab');
    const third = await follow('', /event: changed\n(?:id: .*\n)?data: \{"name":"twin"/, `?lastEventId=${next}`);
    expect(third).not.toContain('"name":"web"');
    expect(await follow(`${id}9999`, /event: snapshot\nid: .*\ndata: .*\n\n/)).toContain('"name":"web"');
  });

  test.each([
    ['HTTP/1.1', 'GET /api/vms HTTP/1.1', /^HTTP\/1\.1 200 OK\r\n/],
    ['HTTP/1.0', 'GET /api/vms HTTP/1.0', /^HTTP\/1\.1 200 OK\r\n/],
    [
      'a pipelined request',
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /api/vms HTTP/1.1',
      /\r\n\r\nok\nHTTP\/1\.1 200 OK\r\n/,
    ],
  ])('streams to %s without HTTP chunks until the connection closes', async (_title, request, head) => {
    const socket = connect(edge.service.port(), '127.0.0.1');
    socket.write(`${request}\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
    let text = '';
    for await (const data of socket) {
      text += String(data);
      if (/event: snapshot\nid: .*\ndata: .*\n\n/.test(text)) break;
    }
    expect(text).toMatch(head);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
    expect(text).not.toMatch(/transfer-encoding/i);
    expect(text).toMatch(/\r\n\r\nevent: status\ndata: /);
  });

  test('answers HEAD for the stream with its head alone', async () => {
    const socket = connect(edge.service.port(), '127.0.0.1');
    socket.write('HEAD /api/vms HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n');
    let text = '';
    socket.on('data', (data) => (text += String(data)));
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*content-type: text\/event-stream[^]*\r\n\r\n$/);
  });

  test('streams gzip to a client that accepts it, each change as soon as it happens', async () => {
    const socket = connect(edge.service.port(), '127.0.0.1');
    socket.write(
      'GET /api/vms HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nAccept-Encoding: gzip\r\n\r\n',
    );
    const gunzip = createGunzip();
    let head = '';
    socket.on('data', (data: Buffer) => {
      const text = data.toString('latin1');
      const end = head.includes('\r\n\r\n') ? -4 : text.indexOf('\r\n\r\n');
      if (end >= 0) head = text.slice(0, end + 4);
      gunzip.write(data.subarray(end + 4));
    });
    let text = '';
    let isStarted = false;
    for await (const data of gunzip) {
      text += String(data);
      if (!isStarted && /event: snapshot\nid: .*\ndata: .*\n\n/.test(text)) {
        isStarted = true;
        await edge.send('POST', '/api/vms/default/web/start');
      }
      if (/event: changed\n(?:id: .*\n)?data: \{"name":"web"/.test(text)) break;
    }
    socket.destroy();
    expect(head).toMatch(/content-encoding: gzip/i);
    expect(text).toMatch(/^event: status\n[^]*event: snapshot\nid: .*\ndata: \[.*vm\/other\/default\/twin/);
  });
});
