import type { IncomingMessage } from 'node:http';
import { ConsoleBroker } from '@headgate/consoles';
import { WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import type { WebSocket } from 'ws';
import { Needs } from '../platform/needs.decorator.js';
import { WATCH } from './console-needs.js';
import { ConsoleOwners } from './console-owners.js';
import { ConsoleRequests } from './console-request.js';
import { ConsoleWatchers } from './console-watchers.js';
import { SocketViewer } from './socket-viewer.js';

/** The graphical console of a VM: RFB in binary frames. */
@WebSocketGateway({ path: '/api/vnc/:ns/:name' })
export class VncGateway implements OnGatewayConnection {
  constructor(
    private readonly requests: ConsoleRequests,
    private readonly broker: ConsoleBroker,
    private readonly owners: ConsoleOwners,
    private readonly watchers: ConsoleWatchers,
  ) {}

  @Needs(WATCH)
  async handleConnection(socket: WebSocket, request: IncomingMessage): Promise<void> {
    const opened = await this.requests.admit(request);
    const { instance, source, viewOnly } = opened;
    this.owners.hold('vnc', instance.ref, socket);
    this.watchers.add('vnc', opened, socket);
    this.requests.closeWithRights(opened, socket);
    this.requests.closeWithContext(instance, socket);
    await this.broker.openVnc(instance.ref, source, new SocketViewer(socket, viewOnly));
  }
}
