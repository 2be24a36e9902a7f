import type { ServerResponse } from 'node:http';
import { FakeService } from '../testing/fake-service.js';
import { followEvents, type StreamEvent } from './event-stream.js';
import { HttpClient } from './http-client.js';

describe('followEvents', () => {
  let service: FakeService;
  let waits: number[];
  const client = () => new HttpClient({ url: new URL(service.url) }, { version: '1', timeoutMs: 20_000 });
  const wait = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });

  beforeEach(async () => {
    service = await FakeService.open();
    waits = [];
  });
  afterEach(() => service.close());

  /** Reads so many events, and leaves. */
  async function read(count: number): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for await (const event of followEvents(client(), '/api/ext/stream', { wait, query: { topics: 'vms' } })) {
      events.push(event);
      if (events.length === count) break;
    }
    return events;
  }

  test('reads events whose lines arrive in any parts, also within a character', async () => {
    const bytes = Buffer.from(
      ': hello\n\nevent: changed\r\nid: x-1\r\ndata: {"name":"wéb"}\r\n\r\ndata: a\ndata:b\n\n',
    );
    service.on('*', (response) => {
      begin(response);
      const send = (at: number): void => {
        if (at < bytes.length) response.write(bytes.subarray(at, at + 1), () => setImmediate(() => send(at + 1)));
      };
      send(0);
    });
    expect(await read(2)).toEqual([
      { event: 'changed', data: '{"name":"wéb"}' },
      { event: '', data: 'a\nb' },
    ]);
  });

  test('continues behind the last ID after a loss, and waits longer each time', async () => {
    let connections = 0;
    service.on('*', (response) => {
      connections++;
      if (connections === 1) begin(response).end('event: a\nid: x-7\ndata: 1\n\nevent: half\nid: x-8\ndata: 2\n');
      else if (connections < 4) response.destroy();
      else begin(response).write('event: b\ndata: 3\n\n');
    });
    expect(await read(2)).toEqual([
      { event: 'a', data: '1' },
      { event: 'b', data: '3' },
    ]);
    expect(service.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'x-7', 'x-7', 'x-7']);
    expect(waits).toEqual([1000, 2000, 4000]);
  });

  test('fails at once if the first connection fails, and if the service refuses the stream later', async () => {
    service.on('*', (response) => void response.destroy());
    await expect(read(1)).rejects.toMatchObject({ exitCode: 6 });
    expect(waits).toEqual([]);
    let connections = 0;
    service.on('*', (response) => {
      if (++connections === 1) return void begin(response).end('event: a\ndata: 1\n\n');
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end('{"error":"The token was revoked.","code":"NOT_PERMITTED"}');
    });
    await expect(read(2)).rejects.toMatchObject({ code: 'NOT_PERMITTED', exitCode: 3 });
  });

  test('refuses an answer that is no stream', async () => {
    service.on('*', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>data: x</p>\n\n'));
    await expect(read(1)).rejects.toMatchObject({ code: 'NOT_A_SERVICE' });
  });

  test('ends without an error when it is interrupted, also while it waits', async () => {
    const abortion = new AbortController();
    service.on('*', (response) => begin(response).end('event: a\ndata: 1\n\n'));
    const names: string[] = [];
    const wait = async (): Promise<void> => {
      abortion.abort();
      throw new Error('aborted');
    };
    for await (const { event } of followEvents(client(), '/s', { signal: abortion.signal, wait })) names.push(event);
    expect(names).toEqual(['a']);
  });

  test('joins a line of several megabytes in a reasonable time', async () => {
    const list = JSON.stringify(Array.from({ length: 40_000 }, (_, index) => ({ ref: `vm/lab/default/web-${index}` })));
    service.on('*', (response) => begin(response).write(`event: vms.snapshot\ndata: ${list}\n\n`));
    const [event] = await read(1);
    expect(event?.data).toHaveLength(list.length);
  });
});
