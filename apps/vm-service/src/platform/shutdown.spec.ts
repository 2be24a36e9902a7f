import 'reflect-metadata';
import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import { TaskBoard } from '@headgate/tasks';
import { openapiDocument } from '../reference/openapi-document.js';
import { previewApplication } from '../reference/preview-application.js';
import type { ApiDocument } from '../testing/fuzz/request-arbitrary.js';
import { Edge } from '../testing/edge.js';

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Holds a method of an object back until it is released. */
function hold(target: object, method: string): { readonly begun: Promise<void>; release(): void } {
  const methods = target as Record<string, Method>;
  const original = methods[method] as Method;
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  methods[method] = async function (...args) {
    begun.resolve();
    await released.promise;
    methods[method] = original;
    return original.apply(this, args);
  };
  return { begun: begun.promise, release: () => released.resolve() };
}

/** For a request to each of several hundred routes. */
const MANY_REQUESTS_MS = 180_000;

const SHUTTING_DOWN = { error: 'The service is shutting down; try again in a moment.', code: 'SHUTTING_DOWN' };

const app = await previewApplication();
const { paths } = openapiDocument(app, '0') as unknown as ApiDocument;
await app.close();
const routes = Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, 'a') })),
);

describe('during the shutdown', () => {
  let edge: Edge;
  beforeEach(async () => void (edge = await new Edge().open()));
  afterEach(() => edge.close());

  test(
    'every route answers 503 with a code, and so do the sockets and unknown paths',
    async () => {
      const tasks = hold(edge.service.app.get(TaskBoard), 'close');
      const closed = edge.service.close();
      await tasks.begun;
      for (const { method, path } of [
        ...routes,
        { method: 'GET', path: '/nope' },
        { method: 'PUT', path: '/api/vms' },
      ]) {
        const response = await fetch(`http://${edge.base}${path}`, { method });
        expect([method, path, response.status, await response.json()]).toEqual([method, path, 503, SHUTTING_DOWN]);
        expect(response.headers.get('x-request-id')).toBeTruthy();
      }
      for (const path of ['/api/tty/default/db', '/api/vnc/default/db', '/api/tty/default/none']) {
        const socket = edge.socket(path);
        const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
        const [body] = (await once(response, 'data')) as [Buffer];
        expect([response.statusCode, JSON.parse(String(body))]).toEqual([503, SHUTTING_DOWN]);
      }
      tasks.release();
      await closed;
      await edge.open();
    },
    MANY_REQUESTS_MS,
  );

  test('a request that follows an unfinished one on its connection gets the same', async () => {
    const info = hold(edge.lab.require('guestInfo'), 'info');
    const socket = connect(edge.service.port(), '127.0.0.1');
    const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost:8006\r\n\r\n`;
    let received = '';
    socket.on('data', (data: Buffer) => (received += data.toString()));
    socket.write(request('/api/vms/default/db/guestinfo'));
    await info.begun;
    const server = edge.service.app.getHttpServer() as Server;
    const stopsListening = new Promise<void>((resolve) => {
      const close = server.close.bind(server);
      server.close = (done) => {
        resolve();
        return close(done);
      };
    });
    const closed = edge.service.close();
    await stopsListening;
    socket.write(request('/api/vms'));
    await once(server, 'request');
    info.release();
    await once(socket, 'end');
    await closed;
    const [, first = '', second = ''] = received.split('HTTP/1.1 ');
    expect(first).toMatch(/^(200|503)/);
    expect(first).not.toContain('SHUTTING_DOWN');
    expect(second).toMatch(/^503/);
    expect(JSON.parse(second.slice(second.indexOf('\r\n\r\n')))).toEqual(SHUTTING_DOWN);
    await edge.open();
  });
});
