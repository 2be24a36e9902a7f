import { connect, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';

/** https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md */
const GREETING_BYTES = 18;
const FIXED_NEWSTYLE = 1;
const OPTION_LIST = 3;
const OPTION_STARTTLS = 5;
const REPLY_HEADER_BYTES = 20;

const option = (code: number): Buffer => {
  const bytes = Buffer.alloc(16);
  bytes.write('IHAVEOPT', 'latin1');
  bytes.writeUInt32BE(code, 8);
  return bytes;
};

/**
 * @returns the type of the reply of an NBD server to the question for its exports; undefined if it ends the connection
 *   instead
 */
export async function askNbd(port: number, credentials?: ConnectionOptions): Promise<number | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    await read(socket, GREETING_BYTES);
    const flags = Buffer.alloc(4);
    flags.writeUInt32BE(FIXED_NEWSTYLE);
    socket.write(flags);
    if (!credentials) return await ask(socket);
    socket.write(option(OPTION_STARTTLS));
    await read(socket, REPLY_HEADER_BYTES);
    // The servers' names do not matter here: the server has to check the client.
    const secured = connectTls({ socket, rejectUnauthorized: false, ...credentials });
    return await ask(secured);
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

async function ask(socket: Socket | TLSSocket): Promise<number> {
  socket.write(option(OPTION_LIST));
  return (await read(socket, REPLY_HEADER_BYTES)).readUInt32BE(12);
}

function read(socket: Socket, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const end = (): void => reject(new Error('The server has ended the connection.'));
    const receive = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      if (received.length < length) return;
      socket.off('data', receive).off('close', end).off('error', end).pause();
      resolve(received);
    };
    socket.on('data', receive).once('close', end).once('error', end).resume();
  });
}
