import type { WebSocket } from 'ws';
import { badRequest, type SubresourceRequest, type WebSocketSubresourceHandler } from '@headgate/kube-sandbox';

const PROTOCOLS = ['v4.channel.k8s.io'];
const MAX_PORT = 65_535;

/** `pods/portforward` over WebSocket: a data and an error channel per port. Nothing listens in a simulated pod. */
export function portForwarding(check: (request: SubresourceRequest) => void): WebSocketSubresourceHandler {
  return {
    protocols: PROTOCOLS,
    requireProtocol: true,
    check: (request) => {
      check(request);
      portsOf(request);
    },
    connect: (socket, request) => refuse(socket, request),
  };
}

/** @throws ApiError 400 */
function portsOf({ query }: SubresourceRequest): number[] {
  const ports = query
    .getAll('ports')
    .flatMap((value) => value.split(','))
    .map(Number);
  if (ports.length === 0) throw badRequest('query parameter "port" is required');
  const wrong = ports.find((port) => !Number.isInteger(port) || port < 1 || port > MAX_PORT);
  if (wrong !== undefined) throw badRequest(`unable to parse "${wrong}" as a port`);
  return ports;
}

/** Each channel begins with its port; then the error channel reports that no program accepts the connection. */
function refuse(socket: WebSocket, request: SubresourceRequest): void {
  const ports = portsOf(request);
  for (const [index, port] of ports.entries()) {
    for (const channel of [2 * index, 2 * index + 1]) socket.send(Buffer.from([channel, port & 255, port >> 8]));
  }
  socket.on('message', (raw: Buffer) => {
    const index = Math.floor((raw[0] ?? 0) / 2);
    const port = ports[index];
    if (port === undefined) return;
    const why = `dial tcp4 127.0.0.1:${port}: connect: connection refused`;
    const text = `failed to execute portforward in network namespace: failed to connect to localhost:${port}: ${why}`;
    socket.send(Buffer.concat([Buffer.from([2 * index + 1]), Buffer.from(text)]));
    socket.close(1000);
  });
  socket.on('error', () => socket.terminate());
}
