import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { DomainError } from '@headgate/domain-contracts';

// https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md
const GREETING_BYTES = 18;
const MAGIC = 0x4e42444d41474943n;
const OPTION_MAGIC = 0x49484156454f5054n;
const FIXED_NEWSTYLE = 1;
const NO_ZEROES = 2;
const OPTION_GO = 7;
const OPTION_STRUCTURED_REPLY = 8;
const OPTION_REPLY_MAGIC = 0x3e889045565a9n;
const OPTION_REPLY_HEADER_BYTES = 20;
const REPLY_ACK = 1;
const REPLY_INFO = 3;
const INFO_EXPORT = 0;
const REQUEST_MAGIC = 0x25609513;
const REQUEST_BYTES = 28;
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
const COMMAND_READ = 0;
const COMMAND_DISCONNECT = 2;
/** A reply to an option is at most this long. */
const MAX_OPTION_REPLY_BYTES = 65_536;

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
    const greeting = new GreetingReader(socket);
    try {
      const hello = await greeting.take(GREETING_BYTES);
      if (hello.readBigUInt64BE(0) !== MAGIC || hello.readBigUInt64BE(8) !== OPTION_MAGIC)
        throw violation('a greeting');
      if ((hello.readUInt16BE(16) & FIXED_NEWSTYLE) === 0) throw violation('the fixed handshake');
      const flags = Buffer.alloc(4);
      flags.writeUInt32BE(FIXED_NEWSTYLE | NO_ZEROES);
      socket.write(Buffer.concat([flags, option(OPTION_STRUCTURED_REPLY)]));
      const { type } = await readOptionReply(greeting);
      if (type !== REPLY_ACK) throw violation('structured replies');
      socket.write(option(OPTION_GO, goPayload(exportName)));
      const diskBytes = await readSize(greeting);
      return new NbdReader(socket, diskBytes, greeting.end());
    } catch (error) {
      greeting.end();
      throw error;
    }
  }

  override _read(): void {
    this.isWanted = true;
    this.deliver();
    this.request();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.socket.destroyed) {
      const goodbye = Buffer.alloc(REQUEST_BYTES);
      goodbye.writeUInt32BE(REQUEST_MAGIC, 0);
      goodbye.writeUInt16BE(COMMAND_DISCONNECT, 6);
      this.socket.write(goodbye);
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
      const message = Buffer.alloc(REQUEST_BYTES);
      message.writeUInt32BE(REQUEST_MAGIC, 0);
      message.writeUInt16BE(COMMAND_READ, 6);
      message.writeBigUInt64BE(BigInt(this.requests), 8);
      message.writeBigUInt64BE(BigInt(this.requested), 16);
      message.writeUInt32BE(length, 24);
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

/** Reads the messages of the handshake one after another. */
class GreetingReader {
  private received: Buffer = Buffer.alloc(0);
  private failure?: Error;
  private notify: () => void = () => undefined;
  private readonly onData = (data: Buffer): void => {
    this.received = Buffer.concat([this.received, data]);
    this.notify();
  };
  private readonly onEnd = (error?: unknown): void => {
    this.failure = brokenOff(error);
    this.notify();
  };

  constructor(private readonly socket: Socket) {
    socket.on('data', this.onData).once('error', this.onEnd).once('close', this.onEnd);
  }

  async take(bytes: number): Promise<Buffer> {
    while (this.received.length < bytes) {
      if (this.failure) throw this.failure;
      await new Promise<void>((resolve) => (this.notify = resolve));
    }
    const taken = this.received.subarray(0, bytes);
    this.received = this.received.subarray(bytes);
    return taken;
  }

  /** @returns the data that arrived after the last message */
  end(): Buffer {
    this.socket.off('data', this.onData).off('error', this.onEnd).off('close', this.onEnd);
    return this.received;
  }
}

function option(code: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(16);
  header.writeBigUInt64BE(OPTION_MAGIC, 0);
  header.writeUInt32BE(code, 8);
  header.writeUInt32BE(payload.length, 12);
  return Buffer.concat([header, payload]);
}

function goPayload(exportName: string): Buffer {
  const name = Buffer.from(exportName);
  const payload = Buffer.alloc(4 + name.length + 2);
  payload.writeUInt32BE(name.length, 0);
  name.copy(payload, 4);
  return payload;
}

async function readOptionReply(greeting: GreetingReader): Promise<{ type: number; payload: Buffer }> {
  const header = await greeting.take(OPTION_REPLY_HEADER_BYTES);
  const length = header.readUInt32BE(16);
  if (header.readBigUInt64BE(0) !== OPTION_REPLY_MAGIC || length > MAX_OPTION_REPLY_BYTES) {
    throw violation('a reply to an option');
  }
  return { type: header.readUInt32BE(12), payload: await greeting.take(length) };
}

async function readSize(greeting: GreetingReader): Promise<number> {
  let diskBytes: number | undefined;
  for (;;) {
    const { type, payload } = await readOptionReply(greeting);
    if (type === REPLY_INFO && payload.length >= 12 && payload.readUInt16BE(0) === INFO_EXPORT) {
      diskBytes = Number(payload.readBigUInt64BE(2));
    } else if (type === REPLY_ACK) {
      if (diskBytes === undefined) throw violation('the size of the disk');
      return diskBytes;
    } else if (type !== REPLY_INFO) {
      throw new DomainError('BACKEND_FAILED', `The disk can't be opened for reading: NBD reply ${type}.`);
    }
  }
}

const violation = (missing: string): DomainError =>
  new DomainError('BACKEND_FAILED', `The program that reads the disk did not send ${missing}.`);

const brokenOff = (cause?: unknown): DomainError =>
  new DomainError('BACKEND_FAILED', 'The program that reads the disk has ended unexpectedly.', { cause });
