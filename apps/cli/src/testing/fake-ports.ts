import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { FakeService } from './fake-service.js';
import { vmView } from './instances.js';

/** Longer messages are counted by their test. */
const MAX_SHOWN = 1024;

/** Ports of the VM `web-1` in the place of the service, whose other end a test holds. */
export class FakePorts {
  readonly opened: string[] = [];
  private readonly sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'binary' });
  private readonly clients: WebSocket[] = [];
  private readonly queues = new WeakMap<WebSocket, string[]>();
  private readonly waiting: ((socket: WebSocket) => void)[] = [];

  constructor(service: FakeService) {
    service.json('GET /api/vms', [vmView()]).json('GET /api/cts', []);
    service.json('GET /api/ext/vms/default/web-1/ports', { uid: 'u-1', passesEnd: true });
    service.server.on('upgrade', (request, socket: Duplex, head) => {
      this.opened.push(request.url ?? '');
      this.sockets.handleUpgrade(request, socket, head, (client) => {
        const queue: string[] = [];
        this.queues.set(client, queue);
        client.on('message', (data: Buffer) => {
          queue.push(data.length > MAX_SHOWN ? '' : String(data));
          client.emit('queued');
        });
        const receive = this.waiting.shift();
        if (receive) receive(client);
        else this.clients.push(client);
      });
    });
  }

  /** The next message of a client. */
  async message(client: WebSocket): Promise<string> {
    const queue = this.queues.get(client) ?? [];
    while (queue.length === 0) await once(client, 'queued');
    return queue.shift() ?? '';
  }

  close(): void {
    for (const client of this.sockets.clients) client.terminate();
  }

  /** The next connection. */
  next(): Promise<WebSocket> {
    const client = this.clients.shift();
    return client ? Promise.resolve(client) : new Promise((resolve) => this.waiting.push(resolve));
  }
}
