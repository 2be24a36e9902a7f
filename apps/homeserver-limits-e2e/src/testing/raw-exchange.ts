import { once } from 'node:events';
import { connect } from 'node:net';

/** Sends bytes that no client library would write, and answers all that comes back until the server hangs up. */
export async function rawExchange(base: string, request: string): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  // A server that hangs up on what it refuses may reset the connection; what came before counts.
  socket.on('error', () => undefined);
  socket.write(Buffer.from(request, 'latin1'));
  await once(socket, 'close');
  return received;
}
