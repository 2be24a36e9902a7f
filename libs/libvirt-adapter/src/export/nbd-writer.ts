import type { Socket } from 'node:net';
import { DomainError } from '@headgate/domain-contracts';
import {
  brokenOff,
  COMMAND_DISCONNECT,
  COMMAND_FLUSH,
  COMMAND_WRITE,
  nbdRequest,
  negotiate,
  violation,
} from './nbd-protocol.js';

const SIMPLE_REPLY_MAGIC = 0x67446698;
const SIMPLE_REPLY_BYTES = 16;
/** Enough to keep the server busy while the next part is being read. */
const MAX_REQUESTS = 4;
const ENOSPC = 28;

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Writes to a disk through an NBD server. */
export class NbdWriter {
  private readonly requests = new Set<number>();
  private nextHandle = 1;
  private received: Buffer = Buffer.alloc(0);
  private failure?: Error;
  private waiting: Waiting[] = [];

  private constructor(
    private readonly socket: Socket,
    readonly diskBytes: number,
    early: Buffer,
  ) {
    socket.on('data', (data: Buffer) => this.receive(data));
    socket.once('error', (error) => this.fail(brokenOff(error)));
    socket.once('close', () => this.fail(brokenOff()));
    if (early.length > 0) this.receive(early);
  }

  /** Negotiates over a connection that was just opened. */
  static async open(socket: Socket, exportName: string): Promise<NbdWriter> {
    const { diskBytes, early } = await negotiate(socket, exportName, { hasStructuredReplies: false });
    return new NbdWriter(socket, diskBytes, early);
  }

  /** Resolves when the next part can be taken. The data must not change until the writer is flushed. */
  async write(offset: number, data: Buffer): Promise<void> {
    if (offset + data.length > this.diskBytes)
      throw new DomainError('BACKEND_FAILED', `The disk has ${this.diskBytes} bytes, fewer than its content.`);
    await this.untilBelow(MAX_REQUESTS);
    this.send(COMMAND_WRITE, { offset, length: data.length });
    this.socket.write(data);
  }

  /** Resolves once everything that was written is on the disk. */
  async flush(): Promise<void> {
    await this.untilBelow(1);
    this.send(COMMAND_FLUSH, { offset: 0, length: 0 });
    await this.untilBelow(1);
  }

  close(): void {
    if (this.socket.destroyed) return;
    this.failure ??= brokenOff();
    this.socket.write(nbdRequest(COMMAND_DISCONNECT));
    this.socket.destroySoon();
  }

  private send(command: number, range: { readonly offset: number; readonly length: number }): void {
    if (this.failure) throw this.failure;
    const handle = this.nextHandle++;
    this.requests.add(handle);
    this.socket.write(nbdRequest(command, { handle, ...range }));
  }

  private async untilBelow(count: number): Promise<void> {
    while (!this.failure && this.requests.size >= count)
      await new Promise<void>((resolve, reject) => this.waiting.push({ resolve, reject }));
    if (this.failure) throw this.failure;
  }

  private receive(data: Buffer): void {
    this.received = Buffer.concat([this.received, data]);
    while (this.received.length >= SIMPLE_REPLY_BYTES) {
      const reply = this.received.subarray(0, SIMPLE_REPLY_BYTES);
      this.received = this.received.subarray(SIMPLE_REPLY_BYTES);
      if (reply.readUInt32BE(0) !== SIMPLE_REPLY_MAGIC || !this.requests.delete(Number(reply.readBigUInt64BE(8))))
        return this.fail(violation('a reply to a request'));
      const errno = reply.readUInt32BE(4);
      if (errno !== 0) return this.fail(writeError(errno));
    }
    this.notify(({ resolve }) => resolve());
  }

  private fail(error: Error): void {
    this.failure ??= error;
    const { failure } = this;
    this.notify(({ reject }) => reject(failure));
    this.socket.destroy();
  }

  private notify(each: (waiting: Waiting) => void): void {
    const { waiting } = this;
    this.waiting = [];
    waiting.forEach(each);
  }
}

const writeError = (errno: number): DomainError =>
  errno === ENOSPC
    ? new DomainError('INSUFFICIENT_STORAGE', 'The storage of the new disk is full: free some space.')
    : new DomainError('BACKEND_FAILED', `The disk can't be written: error ${errno}.`);
