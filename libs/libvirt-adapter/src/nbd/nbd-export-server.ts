import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { SIMPLE_REPLY_BYTES, SIMPLE_REPLY_MAGIC } from '../export/nbd-protocol.js';
import { MAX_READ_BYTES, ReplyBudget, type NbdExport } from './nbd-export.js';
import { acceptClient } from './nbd-handshake.js';
import { SocketReader } from './socket-reader.js';

const REQUEST_MAGIC = 0x25609513;
const REQUEST_BYTES = 28;
const [READ, WRITE, DISCONNECT, FLUSH, TRIM, WRITE_ZEROES] = [0, 1, 2, 3, 4, 6];
const [EPERM, EIO, EINVAL] = [1, 5, 22];
/** QEMU has one connection for each disk. */
const MAX_CONNECTIONS = 64;
const MAX_REQUESTS_PER_CONNECTION = 16;
const BUDGET_BYTES = 2 * MAX_READ_BYTES;
const HANDSHAKE_TIMEOUT_MS = 10_000;

export interface NbdExportServerOptions {
  /** By their names. */
  readonly exports: ReadonlyMap<string, NbdExport>;
  /** A socket that does not exist yet, in a folder that only QEMU and the service enter. */
  readonly path: string;
  /** Called when a part of a disk can't be read. The client gets EIO. */
  readonly onFailure: (disk: string, error: unknown) => void;
}

/**
 * Serves disks over NBD, read-only. Its clients are not trusted: the memory for all of them is bounded, and one that
 * violates the protocol is disconnected. Writes are refused with EPERM.
 */
export class NbdExportServer {
  private readonly sockets = new Set<Socket>();
  private readonly budget = new ReplyBudget(BUDGET_BYTES);
  private server?: Server;
  /** Of all disks, as clients have asked for them. */
  readBytes = 0;

  constructor(private readonly options: NbdExportServerOptions) {}

  async listen(): Promise<void> {
    const server = createServer({ highWaterMark: 65_536 }, (socket) => this.accept(socket));
    this.server = server;
    server.listen(this.options.path);
    await once(server, 'listening');
    // The folder keeps other users out, and QEMU may run as another one.
    await chmod(this.options.path, 0o666);
  }

  async close(): Promise<void> {
    const { server } = this;
    for (const socket of this.sockets) socket.destroy();
    if (!server?.listening) return;
    server.close();
    await once(server, 'close');
  }

  private accept(socket: Socket): void {
    socket.on('error', () => undefined);
    if (this.sockets.size >= MAX_CONNECTIONS) return void socket.destroy();
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    socket.setTimeout(HANDSHAKE_TIMEOUT_MS, () => socket.destroy());
    void this.serve(socket).finally(() => socket.end());
  }

  private async serve(socket: Socket): Promise<void> {
    const reader = new SocketReader(socket);
    const chosen = await acceptClient(socket, reader, this.options.exports);
    if (!chosen) return;
    socket.setTimeout(0);
    const running = new Set<Promise<void>>();
    for (;;) {
      const header = await reader.take(REQUEST_BYTES);
      if (header?.readUInt32BE(0) !== REQUEST_MAGIC) break;
      const [command, cookie] = [header.readUInt16BE(6), header.subarray(8, 16)];
      const [offset, length] = [header.readBigUInt64BE(16), header.readUInt32BE(24)];
      if (command === DISCONNECT) break;
      if (command === WRITE && (length > MAX_READ_BYTES || !(await reader.skip(length)))) break;
      if (running.size >= MAX_REQUESTS_PER_CONNECTION) await Promise.race(running);
      const work = this.answer(socket, chosen, { command, cookie, offset, length }).finally(() => running.delete(work));
      running.add(work);
    }
    await Promise.all(running);
  }

  private async answer(
    socket: Socket,
    { name, disk }: { readonly name: string; readonly disk: NbdExport },
    { command, cookie, offset, length }: NbdCommand,
  ): Promise<void> {
    const reply = (error: number, data?: Buffer): Promise<void> => sendReply(socket, cookie, error, data);
    if (command === FLUSH) return reply(0);
    if (command === WRITE || command === TRIM || command === WRITE_ZEROES) return reply(EPERM);
    const isInside = offset + BigInt(length) <= BigInt(disk.sizeBytes);
    if (command !== READ || length === 0 || length > MAX_READ_BYTES || !isInside) return reply(EINVAL);
    await this.budget.acquire(length);
    try {
      if (socket.destroyed) return;
      const data = await disk.read(Number(offset), length);
      if (data.length !== length) throw new Error(`The disk ${name} has ended unexpectedly.`);
      this.readBytes += length;
      await reply(0, data);
    } catch (error) {
      this.options.onFailure(name, error);
      await reply(EIO);
    } finally {
      this.budget.release(length);
    }
  }
}

interface NbdCommand {
  readonly command: number;
  /** Identifies the request in its reply. */
  readonly cookie: Buffer;
  readonly offset: bigint;
  readonly length: number;
}

/** Resolves when the system has taken the reply, or the client has left. */
function sendReply(socket: Socket, cookie: Buffer, error: number, data?: Buffer): Promise<void> {
  const header = Buffer.alloc(SIMPLE_REPLY_BYTES);
  header.writeUInt32BE(SIMPLE_REPLY_MAGIC, 0);
  header.writeUInt32BE(error, 4);
  cookie.copy(header, 8);
  return new Promise((resolve) => {
    if (!socket.writable) return resolve();
    const done = (): void => {
      socket.off('close', done);
      resolve();
    };
    socket.once('close', done).setMaxListeners(MAX_REQUESTS_PER_CONNECTION + 10);
    if (!data) return void socket.write(header, done);
    socket.cork();
    socket.write(header);
    socket.write(data, done);
    socket.uncork();
  });
}
