import type { IncomingMessage } from 'node:http';
import { ConsoleBroker } from '@headgate/consoles';
import { isContainer } from '@headgate/domain-contracts';
import { WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import type { WebSocket } from 'ws';
import { Needs } from '../platform/needs.decorator.js';
import { WATCH } from './console-needs.js';
import { ConsoleOwners } from './console-owners.js';
import { ConsoleRequests } from './console-request.js';
import { ConsoleWatchers } from './console-watchers.js';
import { SocketViewer } from './socket-viewer.js';

/** The window size of a terminal until it sends its own. */
const FIRST_SIZE = { columns: 80, rows: 24 };

/** The serial console of a VM, or a shell in a container: raw bytes in binary frames. */
@WebSocketGateway({ path: '/api/tty/:ns/:name' })
export class TtyGateway implements OnGatewayConnection {
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
    if (!isContainer(instance)) {
      this.owners.hold('tty', instance.ref, socket);
      this.watchers.add('serial', opened, socket);
    }
    this.requests.closeWithRights(opened, socket);
    this.requests.closeWithContext(instance, socket);
    const viewer = new SocketViewer(socket, viewOnly);
    if (isContainer(instance)) await this.broker.openShell(instance.ref, source, viewer, FIRST_SIZE);
    else await this.broker.openSerial(instance.ref, source, viewer);
  }
}
