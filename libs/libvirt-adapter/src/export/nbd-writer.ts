import { DomainError } from '@headgate/domain-contracts';
import type { NbdConnection } from './nbd-connection.js';
import {
  brokenOff,
  COMMAND_DISCONNECT,
  COMMAND_FLUSH,
  COMMAND_WRITE,
  nbdRequest,
  negotiate,
  SIMPLE_REPLY_BYTES,
  SIMPLE_REPLY_MAGIC,
  violation,
  writeError,
} from './nbd-protocol.js';
import { NbdReplies, type NbdReplyHandler } from './nbd-replies.js';

/** Enough to keep the server busy while the next part is being read. */
const MAX_REQUESTS = 4;

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Writes to a disk through an NBD server. */
export class NbdWriter implements NbdReplyHandler {
  private readonly requests = new Set<number>();
  private nextHandle = 1;
  private failure?: Error;
  private waiting: Waiting[] = [];

  private constructor(
    private readonly connection: NbdConnection,
    readonly diskBytes: number,
  ) {
    connection.setReceiver(new NbdReplies(this));
    connection.socket.once('error', (error) => this.fail(brokenOff(error)));
    connection.socket.once('close', () => this.fail(brokenOff()));
  }

  /** Negotiates over a connection that was just opened. */
  static async open(connection: NbdConnection, exportName: string): Promise<NbdWriter> {
    return new NbdWriter(connection, await negotiate(connection, exportName, { hasStructuredReplies: false }));
  }

  /** Resolves when the next part can be taken. The data must not change until the writer is flushed. */
  async write(offset: number, data: Buffer): Promise<void> {
    if (offset + data.length > this.diskBytes)
      throw new DomainError('BACKEND_FAILED', `The disk has ${this.diskBytes} bytes, fewer than its content.`);
    await this.untilBelow(MAX_REQUESTS);
    this.send(COMMAND_WRITE, { offset, length: data.length }, data);
  }

  /** Resolves once everything that was written is on the disk. */
  async flush(): Promise<void> {
    await this.untilBelow(1);
    this.send(COMMAND_FLUSH, { offset: 0, length: 0 });
    await this.untilBelow(1);
  }

  close(): void {
    const { socket } = this.connection;
    if (socket.destroyed) return;
    this.failure ??= brokenOff();
    socket.write(nbdRequest(COMMAND_DISCONNECT));
    socket.destroySoon();
  }

  private send(
    command: number,
    range: { readonly offset: number; readonly length: number },
    ...data: readonly Buffer[]
  ): void {
    if (this.failure) throw this.failure;
    const handle = this.nextHandle++;
    this.requests.add(handle);
    this.connection.send(nbdRequest(command, { handle, ...range }), ...data);
  }

  private async untilBelow(count: number): Promise<void> {
    while (!this.failure && this.requests.size >= count)
      await new Promise<void>((resolve, reject) => this.waiting.push({ resolve, reject }));
    if (this.failure) throw this.failure;
  }

  get isClosed(): boolean {
    return this.failure !== undefined;
  }

  headerBytes(): number {
    return SIMPLE_REPLY_BYTES;
  }

  begin(reply: Buffer): undefined {
    const errno = reply.readUInt32BE(4);
    if (reply.readUInt32BE(0) !== SIMPLE_REPLY_MAGIC || !this.requests.delete(Number(reply.readBigUInt64BE(8))))
      this.fail(violation('a reply to a request'));
    else if (errno !== 0) this.fail(writeError(errno));
  }

  end(): void {
    // Replies to writes have no data.
  }

  settle(): void {
    this.notify(({ resolve }) => resolve());
  }

  private fail(error: Error): void {
    this.failure ??= error;
    const { failure } = this;
    this.notify(({ reject }) => reject(failure));
    this.connection.socket.destroy();
  }

  private notify(each: (waiting: Waiting) => void): void {
    const { waiting } = this;
    this.waiting = [];
    waiting.forEach(each);
  }
}
