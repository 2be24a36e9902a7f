import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { BodyBudget } from './body-budget.js';
import { readBody } from './request-body.js';

const HEAD = 'POST / HTTP/1.1\r\nHost: b\r\nContent-Length: 4\r\n\r\n';

describe('the memory of a body', () => {
  let server: Server;
  let socket: Socket;
  let handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  const budget = new BodyBudget();
  const read = (request: IncomingMessage, response: ServerResponse) =>
    readBody(request, response, { limit: 100, budget });
  beforeEach(async () => {
    server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
  });
  afterEach(async () => {
    socket.destroy();
    server.close();
    await once(server, 'close');
  });

  test('is held until the response has ended', async () => {
    const held: number[] = [];
    const ended = Promise.withResolvers<void>();
    handle = async (request, response) => {
      response.once('close', () => setImmediate(ended.resolve));
      expect((await read(request, response)).toString()).toBe('body');
      held.push(budget.usedBytes);
      response.end();
    };
    socket.write(`${HEAD}body`);
    await ended.promise;
    expect([held, budget.usedBytes]).toEqual([[4], 0]);
  });

  test.each([
    ['the caller hangs up', () => socket.destroy()],
    // Node then closes the connection, but none of its responses.
    ['the caller asks for a tunnel', () => socket.write('CONNECT b:80 HTTP/1.1\r\nHost: b\r\n\r\n')],
  ])('is free when %s, for each of the requests on a connection', async (_what, end) => {
    const received: string[] = [];
    const both = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    handle = async (request, response) => {
      received.push((await read(request, response)).toString());
      if (received.length < 2) return;
      both.resolve();
      request.socket.once('close', () => setImmediate(gone.resolve));
    };
    socket.write(`${HEAD}one.${HEAD}two.`);
    await both.promise;
    expect([received, budget.usedBytes]).toEqual([['one.', 'two.'], 8]);
    end();
    await gone.promise;
    expect(budget.usedBytes).toBe(0);
  });
});
