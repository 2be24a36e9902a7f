import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { DomainError } from '@headgate/domain-contracts';
import {
  brokenOff,
  COMMAND_DISCONNECT,
  COMMAND_READ,
  MAX_OPTION_REPLY_BYTES,
  nbdRequest,
  negotiate,
  violation,
} from './nbd-protocol.js';

const STRUCTURED_REPLY_MAGIC = 0x668e33ef;
const STRUCTURED_REPLY_BYTES = 20;
const REPLY_FLAG_DONE = 1;
/** Types of structured replies: nothing, data at an offset, a hole at an offset. Errors begin at 2^15. */
const REPLY_TYPE_NONE = 0;
const REPLY_TYPE_DATA = 1;
const REPLY_TYPE_HOLE = 2;
const FIRST_ERROR_TYPE = 2 ** 15;
const OFFSET_BYTES = 8;
const HOLE_BYTES = 12;

const CHUNK_BYTES = 1024 * 1024;
/** The content of holes, which the server does not send. */
const ZEROS = Buffer.alloc(CHUNK_BYTES);
/** Enough to keep the server busy while a chunk is being compressed. */
const MAX_REQUESTS = 4;

/** A part of the disk that was requested. */
interface Chunk {
  readonly offset: number;
  readonly length: number;
  /** Absent while only holes have arrived. */
  data?: Buffer;
  /** The bytes that have arrived, holes included. */
  filled: number;
  isComplete: boolean;
}

/** Data of a chunk that is arriving. */
interface Arrival {
  readonly data: Buffer;
  at: number;
  readonly end: number;
}

/**
 * The content of a disk from its first to its last byte, read from an NBD server. It holds at most 4 MiB, however slowly
 * it is read.
 */
export class NbdReader extends Readable {
  /** In the order of the disk; the handle of a request is its number. */
  private readonly chunks = new Map<number, Chunk>();
  private arriving?: Arrival;
  /** The header of a reply, and of its payload, as far as they have arrived. */
  private header: Buffer = Buffer.alloc(0);
  private requested = 0;
  private requests = 0;
  private delivered = 0;
  private isWanted = false;

  private constructor(
    private readonly socket: Socket,
    readonly diskBytes: number,
    early: Buffer,
  ) {
    super({ highWaterMark: CHUNK_BYTES });
    socket.on('data', (data: Buffer) => this.receive(data));
    socket.once('error', (error) => this.destroy(brokenOff(error)));
    socket.once('close', () => this.destroy(this.isComplete ? undefined : brokenOff()));
    if (early.length > 0) this.receive(early);
  }

  /** Negotiates over a connection that was just opened. */
  static async open(socket: Socket, exportName: string): Promise<NbdReader> {
    const { diskBytes, early } = await negotiate(socket, exportName, { hasStructuredReplies: true });
    return new NbdReader(socket, diskBytes, early);
  }

  override _read(): void {
    this.isWanted = true;
    this.deliver();
    this.request();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.socket.destroyed) {
      this.socket.write(nbdRequest(COMMAND_DISCONNECT));
      this.socket.destroySoon();
    }
    this.chunks.clear();
    done(error);
  }

  private get isComplete(): boolean {
    return this.delivered === this.diskBytes;
  }

  private request(): void {
    while (this.chunks.size < MAX_REQUESTS && this.requested < this.diskBytes) {
      const length = Math.min(CHUNK_BYTES, this.diskBytes - this.requested);
      const message = nbdRequest(COMMAND_READ, { handle: this.requests, offset: this.requested, length });
      this.chunks.set(this.requests++, { offset: this.requested, length, filled: 0, isComplete: false });
      this.requested += length;
      this.socket.write(message);
    }
  }

  /** Replies arrive in any order, and each in parts. */
  private receive(received: Buffer): void {
    let from = 0;
    while (from < received.length && !this.destroyed) {
      const { arriving } = this;
      if (arriving) {
        const part = received.subarray(from, from + arriving.end - arriving.at);
        part.copy(arriving.data, arriving.at);
        arriving.at += part.length;
        from += part.length;
        if (arriving.at === arriving.end) this.arriving = undefined;
        continue;
      }
      const part = received.subarray(from, from + this.headerBytes() - this.header.length);
      from += part.length;
      this.header = Buffer.concat([this.header, part]);
      if (this.header.length === this.headerBytes()) this.begin();
    }
    this.deliver();
  }

  /** The header of a reply decides about the length of what belongs to it. */
  private headerBytes(): number {
    if (this.header.length < STRUCTURED_REPLY_BYTES) return STRUCTURED_REPLY_BYTES;
    const [type, length] = [this.header.readUInt16BE(6), this.header.readUInt32BE(16)];
    const wanted = type === REPLY_TYPE_DATA ? OFFSET_BYTES : Math.min(length, MAX_OPTION_REPLY_BYTES);
    return STRUCTURED_REPLY_BYTES + Math.min(wanted, length);
  }

  private begin(): void {
    const { header } = this;
    this.header = Buffer.alloc(0);
    const chunk = this.chunks.get(Number(header.readBigUInt64BE(8)));
    const type = header.readUInt16BE(6);
    if (header.readUInt32BE(0) !== STRUCTURED_REPLY_MAGIC || !chunk) {
      return void this.destroy(violation('a reply to a request'));
    }
    if (type >= FIRST_ERROR_TYPE) {
      const errno = header.length >= STRUCTURED_REPLY_BYTES + 4 ? header.readUInt32BE(STRUCTURED_REPLY_BYTES) : 0;
      return void this.destroy(new DomainError('BACKEND_FAILED', `The disk can't be read: error ${errno}.`));
    }
    if (type !== REPLY_TYPE_NONE && !this.accept(chunk, type, header)) {
      return void this.destroy(violation('the requested part of the disk'));
    }
    if ((header.readUInt16BE(4) & REPLY_FLAG_DONE) !== 0) {
      if (chunk.filled !== chunk.length) return void this.destroy(violation('all of the requested part of the disk'));
      chunk.isComplete = true;
    }
  }

  /** @returns false when it is not inside of the request */
  private accept(chunk: Chunk, type: number, header: Buffer): boolean {
    const length = header.readUInt32BE(16);
    const isHole = type === REPLY_TYPE_HOLE && length === HOLE_BYTES;
    if (!isHole && (type !== REPLY_TYPE_DATA || length < OFFSET_BYTES)) return false;
    const bytes = isHole ? header.readUInt32BE(STRUCTURED_REPLY_BYTES + OFFSET_BYTES) : length - OFFSET_BYTES;
    const at = Number(header.readBigUInt64BE(STRUCTURED_REPLY_BYTES)) - chunk.offset;
    if (at < 0 || at + bytes > chunk.length) return false;
    chunk.filled += bytes;
    if (isHole) chunk.data?.fill(0, at, at + bytes);
    else if (bytes > 0) {
      // Holes around the data are zeros.
      chunk.data ??= Buffer.alloc(chunk.length);
      this.arriving = { data: chunk.data, at, end: at + bytes };
    }
    return true;
  }

  private deliver(): void {
    while (this.isWanted) {
      const [first] = this.chunks;
      // The last data of a complete chunk may still be arriving.
      if (!first || !first[1].isComplete || (this.arriving && this.arriving.data === first[1].data)) break;
      const [handle, { data, length }] = first;
      this.chunks.delete(handle);
      this.delivered += length;
      this.isWanted = this.push(data ?? ZEROS.subarray(0, length));
      if (this.isWanted) this.request();
    }
    if (this.isComplete && !this.readableEnded) this.push(null);
  }
}
