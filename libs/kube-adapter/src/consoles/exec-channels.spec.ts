import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { DomainError } from '@headgate/domain-contracts';
import { WebSocket, WebSocketServer } from 'ws';
import { EXEC_PROTOCOLS, ExecChannels } from './exec-channels.js';

const STDOUT = 1;
const ERROR = 3;
const NORMAL_CLOSURE = 1000;

const REFUSED = 'dial tcp 192.0.2.10:10250: connect: connection refused';
const UNREACHABLE = {
  metadata: {},
  status: 'Failure',
  message: `Internal error occurred: error sending request: Post "https://192.0.2.10:10250/exec/tailvm/box/main?command=sh": ${REFUSED}`,
  reason: 'InternalError',
  code: 500,
};
const exitCode = (code: number): object => ({
  metadata: {},
  status: 'Failure',
  message: `command terminated with non-zero exit code: exit status ${code}`,
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
});

const frame = (channel: number, data: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from([channel]), Buffer.from(data as string)]);
const report = (status: object): Buffer => frame(ERROR, JSON.stringify(status));

describe('ExecChannels', () => {
  let listener: WebSocketServer;
  let server: WebSocket;
  let client: WebSocket;
  let stream: ExecChannels;

  /** The output that was read, and the error of the stream. */
  let seen: string;
  let failure: unknown;
  let closed: Promise<unknown>;

  beforeEach(async () => {
    listener = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => EXEC_PROTOCOLS[0] });
    await once(listener, 'listening');
    const connected = once(listener, 'connection');
    client = new WebSocket(`ws://127.0.0.1:${(listener.address() as AddressInfo).port}`, [...EXEC_PROTOCOLS]);
    await once(client, 'open');
    client.pause();
    [server] = (await connected) as [WebSocket];
    stream = new ExecChannels(client);
    seen = '';
    failure = undefined;
    stream.on('error', (error) => (failure = error));
    closed = new Promise((resolve) => stream.once('close', resolve));
  });

  afterEach(async () => {
    stream.destroy();
    for (const socket of listener.clients) socket.terminate();
    await new Promise((resolve) => listener.close(resolve));
  });

  const read = (): void => void stream.on('data', (data: Buffer) => (seen += data.toString()));
  const end = (...frames: Buffer[]): void => {
    for (const data of frames) server.send(data);
    server.close(NORMAL_CLOSURE);
  };
  const message = (): string => (failure as Error).message;

  test('fails with the message of the Status, after the output before it', async () => {
    read();
    end(frame(STDOUT, ''), frame(ERROR, ''), frame(STDOUT, 'last words'), report(UNREACHABLE));
    await closed;
    expect(DomainError.is(failure, 'BACKEND_FAILED')).toBe(true);
    expect(message()).toBe(`The cluster ended the shell: error sending request: ${REFUSED}`);
    expect(seen).toBe('last words');
  });

  test('fails without waiting for a server that leaves the connection open', async () => {
    read();
    const gone = once(server, 'close');
    server.send(report(UNREACHABLE));
    await closed;
    expect(message()).toContain(REFUSED);
    await gone;
  });

  test.each([
    ['success', { metadata: {}, status: 'Success' }],
    ['an exit code', exitCode(137)],
  ])('ends without an error after %s, with all of the output', async (_name, status) => {
    read();
    end(frame(STDOUT, 'one '), report(status), frame(STDOUT, 'two'));
    await closed;
    expect(failure).toBeUndefined();
    expect(seen).toBe('one two');
  });

  test('ends without an error when the server closes without a Status', async () => {
    read();
    end(frame(STDOUT, 'bye'));
    await closed;
    expect([failure, seen]).toEqual([undefined, 'bye']);
  });

  test('keeps the output for a reader that comes after the end', async () => {
    end(frame(STDOUT, 'bye'), report(exitCode(1)));
    await once(client, 'close');
    read();
    await closed;
    expect([failure, seen]).toEqual([undefined, 'bye']);
  });

  test('fails when the connection is cut', async () => {
    read();
    server.terminate();
    await closed;
    expect(failure).toMatchObject({
      code: 'BACKEND_FAILED',
      message: 'The connection to the shell was cut (close code 1006).',
    });
  });

  test('reads a Status in several frames, which may split a character', async () => {
    read();
    const bytes = Buffer.from(JSON.stringify({ status: 'Failure', message: 'Der Knoten fährt {"herunter"}' }));
    const middle = bytes.indexOf('ä') + 1;
    end(...[bytes.subarray(0, 5), bytes.subarray(5, middle), bytes.subarray(middle)].map((part) => frame(ERROR, part)));
    await closed;
    expect(message()).toBe('The cluster ended the shell: Der Knoten fährt {"herunter"}');
  });

  test.each([
    ['text', 'exec \u001b[31mfailed\u202e', 'exec [31mfailed'],
    ['a part of a Status', '{"status":"Failure","message":"dial', '{"status":"Failure","message":"dial'],
    ['null', 'null', 'null'],
    ['a list', '["Failure"]', '["Failure"]'],
    ['another status', '{"status":"Later"}', '{"status":"Later"}'],
    ['a status of another type', '{"status":{"status":"Failure"}}', '{"status":{"status":"Failure"}}'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x7d]), '\ufffd\ufffd}'],
  ])('fails and quotes the report when it is %s instead of a Status', async (_name, text, quoted) => {
    read();
    end(frame(ERROR, text));
    await closed;
    expect(failure).toMatchObject({
      code: 'BACKEND_FAILED',
      message: `The cluster ended the shell with a report that can't be read: ${quoted}`,
    });
  });

  test.each([
    ['absent', {}],
    ['empty', { message: ' ' }],
    ['not a text', { message: { text: 'no' } }],
  ])('fails when the message of a Failure is %s', async (_name, extra) => {
    read();
    end(report({ status: 'Failure', ...extra }));
    await closed;
    expect(message()).toBe('The cluster ended the shell: it gave no reason');
  });

  test('shows no control characters of a Status, and cuts a long message', async () => {
    read();
    end(report({ status: 'Failure', message: `\u001b]0;owned\u0007no\nnode ${'x'.repeat(10_000)}` }));
    await closed;
    expect(message()).toMatch(/^The cluster ended the shell: ]0;owned no node x+…$/);
    expect(message().length).toBeLessThanOrEqual(2000);
  });

  test('fails when the Status is enormous, and reads no more of it', async () => {
    read();
    const gone = once(server, 'close');
    for (let sent = 0; sent < 8; sent++) server.send(frame(ERROR, `{"message":"${'x'.repeat(4096)}`));
    await closed;
    expect(message()).toBe('The cluster ended the shell with a report of more than 16384 bytes.');
    await gone;
  });

  test('counts the first Status only, also when more frames arrive after the end', async () => {
    read();
    end(report({ status: 'Failure', message: 'first' }), report({ status: 'Failure', message: 'second' }));
    await closed;
    for (const late of [report(UNREACHABLE), frame(STDOUT, 'late')]) client.emit('message', late, true);
    expect(message()).toBe('The cluster ended the shell: first');
    expect(seen).toBe('');
  });

  test('does not fail after success', async () => {
    read();
    end(report({ status: 'Success' }), report(UNREACHABLE));
    await closed;
    expect(failure).toBeUndefined();
  });

  test('reports the Status to a write into the closed connection, also before anything was read', async () => {
    end(report(UNREACHABLE));
    await once(client, 'close');
    expect(stream.destroyed).toBe(false);
    const written = await new Promise((resolve) => stream.write('ls\r', resolve));
    expect(written).toMatchObject({ code: 'BACKEND_FAILED', message: expect.stringContaining(REFUSED) });
    await closed;
    expect(failure).toBe(written);
  });

  test('reports to a write that the connection is cut, and not the error of the socket', async () => {
    const cut = once(server, 'close');
    server.terminate();
    await cut;
    const results: unknown[] = [];
    // The first bytes may still fit into the buffers of the connection.
    while (!stream.destroyed && results.length < 1000)
      results.push(await new Promise((resolve) => stream.write('ls\r', resolve)));
    expect(results.at(-1)).toMatchObject({ message: 'The connection to the shell was cut (close code 1006).' });
  });

  test('drops input after the program has ended', async () => {
    end(frame(STDOUT, 'bye'), report({ status: 'Success' }));
    await once(client, 'close');
    expect(await new Promise((resolve) => stream.write('ls\r', resolve))).toBeFalsy();
    read();
    await closed;
    expect([failure, seen]).toEqual([undefined, 'bye']);
  });
});
