import 'reflect-metadata';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OnGatewayConnection, WebSocketGateway } from '@nestjs/websockets';
import { WebSocket } from 'ws';
import { edgeAdapter } from '../http/edge-adapter.js';
import { PathWsAdapter } from './path-ws-adapter.js';

@WebSocketGateway({ path: '/api/echo/:ns/:name' })
class EchoGateway implements OnGatewayConnection {
  handleConnection(client: WebSocket, request: IncomingMessage): void {
    client.send(request.url ?? '');
    client.on('message', (data: Buffer) => client.send(data));
  }
}

@Module({ providers: [EchoGateway] })
class EchoModule {}

describe('PathWsAdapter', () => {
  let app: NestFastifyApplication;
  let port: number;

  beforeEach(async () => {
    app = await NestFactory.create<NestFastifyApplication>(
      EchoModule,
      edgeAdapter({
        bodyBytes: 1024,
        requestMs: 1000,
        parameterLength: 100,
        refuse: ({ message }) => ({ status: 400, body: { error: message } }),
      }),
      { logger: false },
    );
    app.useWebSocketAdapter(
      new PathWsAdapter(app, {
        guard: (request) => {
          if (request.headers.origin === 'http://evil.example.org') throw new Error('foreign');
        },
        refuse: (error, _request, socket) => {
          socket.end(
            `HTTP/1.1 ${error ? '403 Forbidden' : '404 Not Found'}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
          );
        },
        maxPayload: 10,
      }),
    );
    await app.listen(0, '127.0.0.1');
    port = (app.getHttpServer().address() as AddressInfo).port;
  });

  afterEach(() => app.close());

  const open = (path: string, origin?: string): WebSocket =>
    new WebSocket(`ws://127.0.0.1:${port}${path}`, ['binary'], origin ? { origin } : {});
  const statusOf = async (socket: WebSocket): Promise<number> => {
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    return response.statusCode ?? 0;
  };

  test('passes a socket under a path with parameters to its gateway, with the request', async () => {
    const socket = open('/api/echo/lab/web?context=a');
    const [first] = (await once(socket, 'message')) as [Buffer];
    expect(first.toString()).toBe('/api/echo/lab/web?context=a');
    expect(socket.protocol).toBe('binary');
    socket.send('hello');
    expect(String(((await once(socket, 'message')) as [Buffer])[0])).toBe('hello');
    socket.close();
    await once(socket, 'close');
  });

  test('refuses an unknown path and a request that the guard refuses', async () => {
    expect(await statusOf(open('/api/echo/lab'))).toBe(404);
    expect(await statusOf(open('/api/echo/lab/web/more'))).toBe(404);
    expect(await statusOf(open('/api/echo/lab/web', 'http://evil.example.org'))).toBe(403);
  });

  test('closes a client whose message is too large', async () => {
    const socket = open('/api/echo/lab/web');
    await once(socket, 'message');
    socket.send('x'.repeat(11));
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(1009);
  });
});
