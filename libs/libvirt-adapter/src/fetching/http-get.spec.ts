import type { ServerResponse } from 'node:http';
import { FixedClock } from '@headgate/testing';
import { HttpServer } from '../testing/http-server.js';
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

  test.each(['ftp://host.example/a', 'file:///etc/passwd'])('does not follow a redirect to %s', async (location) => {
    server.routes.set('/a', (_request, response) => void response.writeHead(302, { location }).end());
    await expect(httpGet(client, new URL(server.url('/a')), { signal })).rejects.toMatchObject({
      code: 'INVALID_SOURCE',
    });
  });
});
