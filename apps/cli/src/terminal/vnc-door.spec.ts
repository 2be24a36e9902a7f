import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { openConsole } from '../client/console-socket.js';
import { HttpClient } from '../client/http-client.js';
import { FakeService } from '../testing/fake-service.js';
import { belongsToUser, openVncDoor, type VncDoor } from './vnc-door.js';

describe('the port for a VNC viewer', () => {
  let service: FakeService;
  let sockets: WebSocketServer;
  let door: VncDoor | undefined;

  beforeEach(async () => {
    service = await FakeService.open();
    sockets = new WebSocketServer({ server: service.server });
  });
  afterEach(async () => {
    door?.close();
    sockets.close();
    for (const socket of sockets.clients) socket.terminate();
    await service.close();
  });

  const open = async (isOwn?: (socket: Socket) => boolean): Promise<VncDoor> => {
    const client = new HttpClient({ url: new URL(service.url), token: 'hgt_x' }, { version: '1', timeoutMs: 20_000 });
    return (door = await openVncDoor(0, () => openConsole(client, '/api/vnc/a/b', { context: 'lab' }), isOwn));
  };

  test('carries the bytes of one viewer both ways, with the token in a header, and then closes', async () => {
    const { port, closed } = await open();
    const connected = once(sockets, 'connection');
    const viewer = connect(port, '127.0.0.1');
    const [socket, request] = (await connected) as [WebSocket, { url: string; headers: Record<string, string> }];
    expect(request.url).toBe('/api/vnc/a/b?context=lab');
    expect(request.headers['authorization']).toBe('Bearer hgt_x');
    socket.send(Buffer.from('RFB 003.008\n'));
    expect(String((await once(viewer, 'data'))[0])).toBe('RFB 003.008\n');
    viewer.write('hello');
    expect(String((await once(socket, 'message'))[0])).toBe('hello');
    const second = connect(port, '127.0.0.1');
    expect((await once(second, 'error'))[0]).toMatchObject({ code: 'ECONNREFUSED' });
    viewer.destroy();
    await closed;
  });

  test('opens no console for another user of the machine', async () => {
    const { port } = await open(() => false);
    const viewer = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(viewer, 'close');
    expect(sockets.clients.size).toBe(0);
    expect(service.requests).toEqual([]);
  });

  test('knows the user at the other end of a connection', async () => {
    const seen: boolean[] = [];
    const { port } = await open((socket) => {
      seen.push(belongsToUser(socket), belongsToUser({ remotePort: 1, localPort: 2 } as Socket));
      return false;
    });
    await once(
      connect(port, '127.0.0.1').on('error', () => undefined),
      'close',
    );
    expect(seen).toEqual([true, process.platform !== 'linux']);
  });

  test('reports a console that the service refuses', async () => {
    service.server.removeAllListeners('upgrade');
    service.server.on('upgrade', (_request, socket) =>
      socket.end(
        'HTTP/1.1 409 Conflict\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"error":"It is off.","code":"WRONG_STATE"}',
      ),
    );
    const { port, closed } = await open();
    connect(port, '127.0.0.1').on('error', () => undefined);
    await expect(closed).rejects.toMatchObject({ message: 'It is off.', code: 'WRONG_STATE', exitCode: 5 });
  });
});
