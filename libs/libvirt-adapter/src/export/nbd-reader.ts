import { Readable } from 'node:stream';
import type { NbdConnection } from './nbd-connection.js';
import {
  brokenOff,
  COMMAND_DISCONNECT,
  COMMAND_READ,
  FIRST_ERROR_TYPE,
  MAX_OPTION_REPLY_BYTES,
  nbdRequest,
  negotiate,
  readError,
  REPLY_FLAG_DONE,
  STRUCTURED_REPLY_BYTES,
  STRUCTURED_REPLY_MAGIC,
  violation,
} from './nbd-protocol.js';
import { NbdReplies, type NbdReplyHandler } from './nbd-replies.js';

/** Types of structured replies: nothing, data at an offset, a hole at an offset. */
const REPLY_TYPE_NONE = 0;
const REPLY_TYPE_DATA = 1;
const REPLY_TYPE_HOLE = 2;
const OFFSET_BYTES = 8;
const HOLE_BYTES = 12;

const CHUNK_BYTES = 1024 * 1024;
/** The content of holes, which the server does not send. */
const ZEROS = Buffer.alloc(CHUNK_BYTES);
const NO_DATA = Buffer.alloc(0);
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

/**
 * The content of a disk from its first to its last byte, read from an NBD server. It holds at most 4 MiB, however
 * slowly it is read.
 */
export class NbdReader extends Readable implements NbdReplyHandler {
  /** In the order of the disk; the handle of a request is its number. */
  private readonly chunks = new Map<number, Chunk>();
  /** The chunk that is complete once the data of the present reply has arrived. */
  private completing?: Chunk;
  private requested = 0;
  private requests = 0;
  private delivered = 0;
  private isWanted = false;

  private constructor(
    private readonly connection: NbdConnection,
    readonly diskBytes: number,
  ) {
    super({ highWaterMark: CHUNK_BYTES });
    connection.setReceiver(new NbdReplies(this));
    connection.socket.once('error', (error) => this.destroy(brokenOff(error)));
    connection.socket.once('close', () => this.destroy(this.isComplete ? undefined : brokenOff()));
  }

  /** Negotiates over a connection that was just opened. */
  static async open(connection: NbdConnection, exportName: string): Promise<NbdReader> {
    return new NbdReader(connection, await negotiate(connection, exportName, { hasStructuredReplies: true }));
  }

  override _read(): void {
    this.isWanted = true;
    this.deliver();
    this.request();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const { socket } = this.connection;
    if (!socket.destroyed) {
      socket.write(nbdRequest(COMMAND_DISCONNECT));
      socket.destroySoon();
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
      this.connection.send(message);
    }
  }

  get isClosed(): boolean {
    return this.destroyed;
  }

  /** The header of a reply decides about the length of what belongs to it. */
  headerBytes(header: Buffer): number {
    if (header.length < STRUCTURED_REPLY_BYTES) return STRUCTURED_REPLY_BYTES;
    const [type, length] = [header.readUInt16BE(6), header.readUInt32BE(16)];
    const wanted = type === REPLY_TYPE_DATA ? OFFSET_BYTES : Math.min(length, MAX_OPTION_REPLY_BYTES);
    return STRUCTURED_REPLY_BYTES + Math.min(wanted, length);
  }

  /** Replies arrive in any order, and each in parts. */
  begin(header: Buffer): Buffer | undefined {
    const chunk = this.chunks.get(Number(header.readBigUInt64BE(8)));
    const type = header.readUInt16BE(6);
    if (header.readUInt32BE(0) !== STRUCTURED_REPLY_MAGIC || !chunk) {
      return this.refuse(violation('a reply to a request'));
    }
    if (type >= FIRST_ERROR_TYPE) {
      const errno = header.length >= STRUCTURED_REPLY_BYTES + 4 ? header.readUInt32BE(STRUCTURED_REPLY_BYTES) : 0;
      return this.refuse(readError(errno));
    }
    const place = type === REPLY_TYPE_NONE ? NO_DATA : this.accept(chunk, type, header);
    if (!place) return this.refuse(violation('the requested part of the disk'));
    const isDone = (header.readUInt16BE(4) & REPLY_FLAG_DONE) !== 0;
    if (isDone && chunk.filled !== chunk.length) return this.refuse(violation('all of the requested part of the disk'));
    if (place.length > 0) {
      this.completing = isDone ? chunk : undefined;
      return place;
    }
    chunk.isComplete ||= isDone;
    return undefined;
  }

  end(): void {
    if (this.completing) this.completing.isComplete = true;
  }

  settle(): void {
    this.deliver();
  }

  private refuse(error: Error): undefined {
    this.destroy(error);
  }

  /** @returns the place of the data, or undefined when it is not inside of the request */
  private accept(chunk: Chunk, type: number, header: Buffer): Buffer | undefined {
    const length = header.readUInt32BE(16);
    const isHole = type === REPLY_TYPE_HOLE && length === HOLE_BYTES;
    if (!isHole && (type !== REPLY_TYPE_DATA || length < OFFSET_BYTES)) return undefined;
    const bytes = isHole ? header.readUInt32BE(STRUCTURED_REPLY_BYTES + OFFSET_BYTES) : length - OFFSET_BYTES;
    const at = Number(header.readBigUInt64BE(STRUCTURED_REPLY_BYTES)) - chunk.offset;
    if (at < 0 || at + bytes > chunk.length) return undefined;
    chunk.filled += bytes;
    if (isHole) {
      chunk.data?.fill(0, at, at + bytes);
      return NO_DATA;
    }
    if (bytes === 0) return NO_DATA;
    // Holes around the data are zeros.
    chunk.data ??= bytes === chunk.length ? Buffer.allocUnsafeSlow(bytes) : Buffer.alloc(chunk.length);
    return chunk.data.subarray(at, at + bytes);
  }

  private deliver(): void {
    while (this.isWanted) {
      const [first] = this.chunks;
      if (!first?.[1].isComplete) break;
      const [handle, { data, length }] = first;
      this.chunks.delete(handle);
      this.delivered += length;
      this.isWanted = this.push(data ?? ZEROS.subarray(0, length));
      if (this.isWanted) this.request();
    }
    if (this.isComplete && !this.readableEnded) this.push(null);
  }
}
