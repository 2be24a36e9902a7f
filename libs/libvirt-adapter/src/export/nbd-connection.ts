import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';

/** Receives the data of a connection. */
export interface NbdReceiver {
  /** The place of the next data, if it is known. */
  place(): Buffer | undefined;
  /** @param isPlaced whether the data is already in its place; otherwise it is valid only during the call */
  receive(data: Buffer, isPlaced: boolean): void;
}

/** Replies are longer than this only if they have data, whose place is known once their header was read. */
const HEADERS_BYTES = 4096;

/**
 * A connection to an NBD server. Large replies are read directly into the buffers of their receiver, because each copy
 * of a disk's content counts.
 */
export class NbdConnection {
  private readonly headers = Buffer.allocUnsafeSlow(HEADERS_BYTES);
  private receiver?: NbdReceiver;
  private isPlaced = false;
  /** Data that arrived while there was no receiver. */
  private early: Buffer[] = [];
  readonly socket: Socket;

  private constructor(path: string) {
    this.socket = connect({
      path,
      onread: {
        buffer: () => this.nextBuffer(),
        callback: (bytes, buffer) => {
          this.receive(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
          return true;
        },
      },
    });
    // An error without a listener would end the process.
    this.socket.on('error', () => undefined);
  }

  /**
   * @param folder of any length: the socket is reached through its file descriptor, because paths of sockets are
   *   limited to 107 bytes
   * @param name of the socket in the folder
   * @returns undefined if nothing listens there, or the server has closed the connection already
   */
  static async open(folder: string, name: string): Promise<NbdConnection | undefined> {
    const handle = await open(folder, 'r');
    const connection = new NbdConnection(`/proc/self/fd/${handle.fd}/${name}`);
    try {
      await once(connection.socket, 'connect');
    } catch {
      connection.socket.destroy();
    } finally {
      await handle.close();
    }
    // The server may have ended meanwhile: a reader would wait for an event that has passed.
    return connection.socket.destroyed ? undefined : connection;
  }

  /** Replaces the receiver, and passes on what has arrived before. */
  setReceiver(receiver: NbdReceiver | undefined): void {
    this.receiver = receiver;
    if (!receiver) return;
    const early = this.early.splice(0);
    for (const data of early) this.receive(data);
  }

  /** The parts of one message, which are sent together. */
  send(...parts: readonly Buffer[]): void {
    this.socket.cork();
    for (const part of parts) this.socket.write(part);
    this.socket.uncork();
  }

  private nextBuffer(): Buffer {
    const place = this.receiver?.place();
    this.isPlaced = place !== undefined;
    return place ?? this.headers;
  }

  private receive(data: Buffer): void {
    const { isPlaced } = this;
    this.isPlaced = false;
    if (this.receiver) this.receiver.receive(data, isPlaced);
    else this.early.push(Buffer.from(data));
  }
}
