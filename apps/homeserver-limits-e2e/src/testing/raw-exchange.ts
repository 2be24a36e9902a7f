import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * Sends bytes that no client library would write.
 * @returns everything received until the server closes the connection
 */
export async function rawExchange(base: string, request: string): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  // A server that refuses a request may reset the connection. The bytes before that count.
  socket.on('error', () => undefined);
  socket.write(Buffer.from(request, 'latin1'));
  await once(socket, 'close');
  return received;
}
