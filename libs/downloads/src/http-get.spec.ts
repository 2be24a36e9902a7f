import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { messageOf } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { HttpServer } from './testing/http-server.js';
import { EgressPolicy } from './egress-policy.js';
import { httpGet } from './http-get.js';

describe('httpGet', () => {
  let server: HttpServer;
  const clock = new FixedClock();
  const client = { egress: new EgressPolicy({ allow: ['127.0.0.1'] }), clock };
  const signal = new AbortController().signal;

  beforeEach(async () => void (server = await HttpServer.listen()));
  afterEach(async () => {
    await server.close();
    expect(clock.pending).toBe(0);
  });

  test('times out on a server that never stops sending, however slowly', async () => {
    let response: ServerResponse | undefined;
    server.routes.set('/slow', (_request, opened) => {
      response = opened;
      response.writeHead(200).flushHeaders();
    });
    const { body } = await httpGet(client, new URL(server.url('/slow')), { signal });
    const chunks = body[Symbol.asyncIterator]();
    const readForHours = async (): Promise<void> => {
      for (let chunk = 0; chunk < 1000; chunk++) {
        response?.write('x');
        await chunks.next();
        clock.advance(50_000);
      }
    };
    await expect(readForHours()).rejects.toMatchObject({
      code: 'BACKEND_TIMEOUT',
      message: expect.stringContaining('too long'),
    });
  });

  test('stops following redirects', async () => {
    server.routes.set('/loop', (_request, response) => void response.writeHead(302, { location: '/loop' }).end());
    await expect(httpGet(client, new URL(server.url('/loop')), { signal })).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringContaining('10 times'),
    });
    expect(server.requests).toHaveLength(11);
  });

  test('quotes the status line of a hostile server as plain text of a bounded length', async () => {
    const line = `HTTP/1.1 500 \u001b[2J\u202e\u0085${'x'.repeat(3000)}`;
    const hostile = createServer((socket) =>
      socket.once('data', () => socket.end(`${line}\r\ncontent-length: 0\r\n\r\n`)),
    ).listen(0, '127.0.0.1');
    await once(hostile, 'listening');
    const { port } = hostile.address() as AddressInfo;
    const failure = await httpGet(client, new URL(`http://127.0.0.1:${port}/`), { signal }).catch(messageOf);
    await new Promise((resolve) => hostile.close(resolve));
    expect(failure).toContain('returned 500 ');
    expect(failure).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(String(failure).length).toBeLessThan(300);
  });

  test.each(['ftp://host.example/a', 'file:///etc/passwd'])('does not follow a redirect to %s', async (location) => {
    server.routes.set('/a', (_request, response) => void response.writeHead(302, { location }).end());
    await expect(httpGet(client, new URL(server.url('/a')), { signal })).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
    });
  });
});
