import type { ClientRequest } from 'node:http';
import { PassThrough, Readable, Writable } from 'node:stream';
import { jest } from '@jest/globals';
import { ClientGone } from '@headgate/homeserver-contracts';
import { BODY_STEP_MS, MIN_STEP_BYTES } from '@headgate/http-relay';
import type { MatrixError } from '@headgate/matrix-protocol';
import { sendBody, untilBegun } from './streamed-body.js';

const sink = (accept: (chunk: Buffer, done: () => void) => void) =>
  new Writable({ write: (chunk: Buffer, _encoding, done) => accept(chunk, done) }) as unknown as ClientRequest;

describe('untilBegun', () => {
  test('waits for the first bytes, and leaves them in the stream', async () => {
    const body = new PassThrough();
    let hasBegun = false;
    const begun = untilBegun(body).then(() => (hasBegun = true));
    await new Promise((next) => setImmediate(next));
    expect(hasBegun).toBe(false);
    body.write('x');
    await begun;
    body.end('y');
    expect((await body.toArray()).join('')).toBe('xy');
  });

  test('does not wait for a body that ends', async () => {
    const body = new PassThrough();
    const begun = untilBegun(body);
    body.end();
    await begun;
  });

  test('rejects when the body breaks off', async () => {
    const body = new PassThrough();
    const begun = untilBegun(body);
    body.destroy();
    await expect(begun).rejects.toThrow(ClientGone);
  });
});

describe('sendBody', () => {
  let refused: number[];
  const refuse = (error: MatrixError) => refused.push(error.status);
  beforeEach(() => {
    refused = [];
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  });
  afterEach(() => jest.useRealTimers());
  const settle = () => new Promise((next) => setImmediate(next));

  test('sends everything, and frees the chunks', async () => {
    const chunks = [1, 2, 3].map((fill) => Buffer.alloc(64 * 1024, fill));
    const received: Buffer[] = [];
    const outgoing = sink((chunk, done) => {
      received.push(Buffer.from(chunk));
      done();
    });
    const finished = new Promise((resolve) => outgoing.once('finish', resolve));
    sendBody(Readable.from(chunks), outgoing, refuse);
    await finished;
    expect(received.map((chunk) => [chunk.length, chunk[0]])).toEqual([1, 2, 3].map((fill) => [64 * 1024, fill]));
    expect(chunks.map(({ length }) => length)).toEqual([0, 0, 0]);
  });

  test('refuses a body that hardly arrives', async () => {
    const body = new PassThrough();
    const outgoing = sink((_chunk, done) => done());
    sendBody(body, outgoing, refuse);
    body.write(Buffer.alloc(MIN_STEP_BYTES));
    await settle();
    jest.advanceTimersByTime(BODY_STEP_MS);
    body.write('x');
    await settle();
    expect(refused).toEqual([]);
    jest.advanceTimersByTime(BODY_STEP_MS);
    expect([refused, outgoing.destroyed]).toEqual([[408], true]);
  });

  test('leaves a body to which the upstream is the slow one', async () => {
    const body = new PassThrough();
    const outgoing = sink(() => undefined);
    sendBody(body, outgoing, refuse);
    body.write(Buffer.alloc(200 * 1024));
    await settle();
    jest.advanceTimersByTime(4 * BODY_STEP_MS);
    expect(refused).toEqual([]);
    outgoing.destroy();
    await settle();
  });
});
