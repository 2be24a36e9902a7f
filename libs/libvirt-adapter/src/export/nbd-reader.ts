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
const OPTION_REPLY_MAGIC = 0x3e889045565a9n;
const OPTION_REPLY_HEADER_BYTES = 20;
const REPLY_ACK = 1;
const REPLY_INFO = 3;
const INFO_EXPORT = 0;
const REQUEST_MAGIC = 0x25609513;
const REQUEST_BYTES = 28;
const SIMPLE_REPLY_MAGIC = 0x67446698;
const SIMPLE_REPLY_BYTES = 16;
const COMMAND_READ = 0;
const COMMAND_DISCONNECT = 2;
/** A reply to an option is at most this long. */
const MAX_OPTION_REPLY_BYTES = 65_536;

const CHUNK_BYTES = 1024 * 1024;
/** Enough to keep the server busy while a chunk is being compressed. */
const MAX_REQUESTS = 4;

/** A part of the disk that was requested. */
interface Chunk {
  readonly data: Buffer;
  filled: number;
}

/**
 * The content of a disk from its first to its last byte, read from an NBD server. It holds at most 4 MiB, however slowly
 * it is read.
 */
export class NbdReader extends Readable {
  /** In the order of the disk; the handle of a request is its number. */
  private readonly chunks = new Map<number, Chunk>();
  private receiving?: Chunk;
  private rest: Buffer = Buffer.alloc(0);
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
      socket.write(Buffer.concat([flags, goOption(exportName)]));
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
      this.chunks.set(this.requests++, { data: Buffer.allocUnsafe(length), filled: 0 });
      this.requested += length;
      this.socket.write(message);
    }
  }

  /** Replies arrive in any order. */
  private receive(data: Buffer): void {
    let from = 0;
    while (from < data.length && !this.destroyed) {
      const chunk = this.receiving;
      if (chunk) {
        const part = data.subarray(from, from + chunk.data.length - chunk.filled);
        part.copy(chunk.data, chunk.filled);
        chunk.filled += part.length;
        from += part.length;
        if (chunk.filled === chunk.data.length) this.receiving = undefined;
        continue;
      }
      const header = data.subarray(from, from + SIMPLE_REPLY_BYTES - this.rest.length);
      from += header.length;
      this.rest = Buffer.concat([this.rest, header]);
      if (this.rest.length < SIMPLE_REPLY_BYTES) break;
      this.begin(this.rest);
      this.rest = Buffer.alloc(0);
    }
    this.deliver();
  }

  private begin(header: Buffer): void {
    const chunk = this.chunks.get(Number(header.readBigUInt64BE(8)));
    if (header.readUInt32BE(0) !== SIMPLE_REPLY_MAGIC || !chunk || chunk.filled > 0) {
      return void this.destroy(violation('a reply to a request'));
    }
    const errno = header.readUInt32BE(4);
    if (errno !== 0)
      return void this.destroy(new DomainError('BACKEND_FAILED', `The disk can't be read: error ${errno}.`));
    this.receiving = chunk;
  }

  private deliver(): void {
    while (this.isWanted) {
      const [first] = this.chunks;
      if (!first || first[1].filled < first[1].data.length) break;
      const [handle, { data }] = first;
      this.chunks.delete(handle);
      this.delivered += data.length;
      this.isWanted = this.push(data);
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

function goOption(exportName: string): Buffer {
  const name = Buffer.from(exportName);
  const message = Buffer.alloc(16 + 4 + name.length + 2);
  message.writeBigUInt64BE(OPTION_MAGIC, 0);
  message.writeUInt32BE(OPTION_GO, 8);
  message.writeUInt32BE(4 + name.length + 2, 12);
  message.writeUInt32BE(name.length, 16);
  name.copy(message, 20);
  return message;
}

async function readSize(greeting: GreetingReader): Promise<number> {
  let diskBytes: number | undefined;
  for (;;) {
    const header = await greeting.take(OPTION_REPLY_HEADER_BYTES);
    const length = header.readUInt32BE(16);
    if (header.readBigUInt64BE(0) !== OPTION_REPLY_MAGIC || length > MAX_OPTION_REPLY_BYTES) {
      throw violation('a reply to an option');
    }
    const type = header.readUInt32BE(12);
    const payload = await greeting.take(length);
    if (type === REPLY_INFO && length >= 12 && payload.readUInt16BE(0) === INFO_EXPORT) {
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
