import type { IncomingMessage } from 'node:http';
import { CLOSE_CODES, closeReason, relayPort, type PortClient } from '@headgate/consoles';
import { Clock, formatRef, isRunningStatus, isVm, messageOf, type Instance } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import type { WebSocket } from 'ws';
import { ConsoleRequests } from '../consoles/console-request.js';
import { InstanceConnections } from '../identity/instance-connections.js';
import { Needs } from '../platform/needs.decorator.js';
import { PortConnections } from './port-connections.js';
import { PORT_ROUTE, PortRequests } from './port-request.js';
import { PORTS } from './ports-need.js';
import { SocketPort } from './socket-port.js';

/** The close code for a violated policy. Source: RFC 6455, 7.4.1. */
const RIGHTS_ENDED = 1008;
/** How long a client that has vanished is believed in. */
const KEEP_ALIVE_MS = 60_000;
const STOPPED = 'The VM is not running any more.';

/** A TCP port of a guest: its bytes in binary frames. */
@WebSocketGateway({ path: PORT_ROUTE })
export class PortGateway implements OnGatewayConnection {
  constructor(
    private readonly requests: PortRequests,
    private readonly consoles: ConsoleRequests,
    private readonly connections: PortConnections,
    private readonly instances: InstanceConnections,
    private readonly fleet: FleetReader,
    private readonly clock: Clock,
  ) {}

  @Needs(PORTS)
  async handleConnection(socket: WebSocket, request: IncomingMessage): Promise<void> {
    const { instance, ports, port, caller } = await this.requests.admit(request);
    request.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const client = new SocketPort(socket);
    try {
      this.connections.add(caller, client);
      const close = (reason: string): void => client.close(RIGHTS_ENDED, reason);
      socket.once('close', this.instances.closeWith(caller, instance, [PORTS], close));
      this.consoles.closeWithContext(instance, socket);
      this.closeWithInstance(instance, client);
      const guest = await ports.connect(instance.ref, port);
      relayPort(client, guest, { clock: this.clock, passesEnd: ports.passesEnd });
      // A new VM may have got the name meanwhile.
      if (!this.isPresent(instance)) client.close(CLOSE_CODES.shutdown, STOPPED);
    } catch (error) {
      client.close(CLOSE_CODES.failed, closeReason(messageOf(error)));
    }
  }

  private closeWithInstance(instance: Instance, client: PortClient): void {
    const ref = formatRef(instance.ref);
    const unsubscribe = this.fleet.subscribe((event) => {
      const changed = event.type === 'changed' ? event.entry.instance : event.type === 'removed' && event.instance;
      if (!changed || formatRef(changed.ref) !== ref || this.isPresent(instance)) return;
      client.close(CLOSE_CODES.shutdown, STOPPED);
    });
    client.onClose(unsubscribe);
  }

  private isPresent({ ref, uid }: Instance): boolean {
    const present = this.fleet.get(ref);
    return present !== undefined && present.uid === uid && isVm(present) && isRunningStatus(present.status);
  }
}
