import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectSocket } from './connect-socket.js';

const MIB = 1_048_576;

/** The bytes that the server sends: consecutive 32-bit numbers, so that a lost or repeated byte shows. */
const sent = Buffer.from(Uint32Array.from({ length: (4 * MIB) / 4 }, (_, index) => index).buffer);

describe('connectSocket', () => {
  let folder: string;
  let server: Server;
  let path: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-socket-'));
    path = join(folder, 'console');
    server = createServer({ allowHalfOpen: true }, (client) => {
      client.once('data', (data) => client.end(data.equals(Buffer.from('all')) ? sent : data));
    }).listen(path);
    await once(server, 'listening');
  });

  afterEach(async () => {
    server.close();
    await once(server, 'close');
    rmSync(folder, { recursive: true });
  });

  test.each([true, false])('reads everything the server sends, recycling buffers: %s', async (recycles) => {
    const stream = await connectSocket({ path });
    const parts: Buffer[] = [];
    stream.on('data', (data: Buffer) => {
      parts.push(recycles ? Buffer.from(data) : data);
      if (recycles) stream.recycle?.(data);
    });
    stream.write('all');
    await once(stream, 'end');
    expect(Buffer.concat(parts).equals(sent)).toBe(true);
    stream.destroy();
  });

  test('applies backpressure while paused and loses nothing', async () => {
    const stream = await connectSocket({ path });
    const parts: Buffer[] = [];
    stream.on('data', (data: Buffer) => {
      parts.push(Buffer.from(data));
      stream.recycle?.(data);
      stream.pause();
      setImmediate(() => stream.resume());
    });
    stream.write('all');
    await once(stream, 'end');
    expect(Buffer.concat(parts).equals(sent)).toBe(true);
    stream.destroy();
  });

  test('allows data to be read and unshifted before a listener is attached', async () => {
    const stream = await connectSocket({ path });
    stream.write('login: ');
    await once(stream, 'readable');
    const seen = stream.read() as Buffer;
    stream.removeAllListeners('readable').unshift(seen);
    const parts: Buffer[] = [];
    stream.on('data', (data: Buffer) => parts.push(data));
    await once(stream, 'end');
    expect(String(Buffer.concat(parts))).toBe('login: ');
    stream.destroy();
  });

  test('reports a console socket that does not exist', async () => {
    await expect(connectSocket({ path: join(folder, 'none') })).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
  });
});
