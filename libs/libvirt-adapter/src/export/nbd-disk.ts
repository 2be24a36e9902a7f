import { DomainError, type DiskExtent } from '@headgate/domain-contracts';
import type { NbdConnection } from './nbd-connection.js';
import {
  brokenOff,
  COMMAND_BLOCK_STATUS,
  COMMAND_DISCONNECT,
  COMMAND_FLUSH,
  COMMAND_READ,
  COMMAND_WRITE,
  FIRST_ERROR_TYPE,
  nbdRequest,
  negotiate,
  readError,
  REPLY_FLAG_DONE,
  SIMPLE_REPLY_BYTES,
  SIMPLE_REPLY_MAGIC,
  STRUCTURED_REPLY_BYTES,
  STRUCTURED_REPLY_MAGIC,
  violation,
  writeError,
} from './nbd-protocol.js';
import { NbdReplies, type NbdReplyHandler } from './nbd-replies.js';

const MAGIC_BYTES = 4;
/** Types of structured replies. */
const REPLY_TYPE_NONE = 0;
const REPLY_TYPE_DATA = 1;
const REPLY_TYPE_HOLE = 2;
const REPLY_TYPE_BLOCK_STATUS = 5;
const OFFSET_BYTES = 8;
const HOLE_BYTES = 12;
const CONTEXT_BYTES = 4;
const EXTENT_BYTES = 8;
/** QEMU describes at most 128 Ki extents at a time. */
const MAX_STATUS_BYTES = CONTEXT_BYTES + EXTENT_BYTES * 128 * 1024;
/** The range of one question about the state of a disk. */
const STATUS_RANGE_BYTES = 1024 ** 3;

interface Request {
  readonly command: number;
  readonly offset: number;
  readonly data: Buffer;
  readonly status: Extent[];
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Extent {
  readonly length: number;
  readonly flags: number;
}

/** A disk behind an NBD server, whose parts are read and written in any order. */
export class NbdDisk implements NbdReplyHandler {
  private readonly requests = new Map<number, Request>();
  private nextHandle = 1;
  private failure?: Error;
  /** The request that is complete once the data of the present reply has arrived. */
  private completing?: number;

  private constructor(
    private readonly connection: NbdConnection,
    readonly sizeBytes: number,
    private readonly staysConnected: boolean,
  ) {
    connection.setReceiver(new NbdReplies(this));
    connection.socket.once('error', (error) => this.fail(brokenOff(error)));
    connection.socket.once('close', () => this.fail(brokenOff()));
  }

  /**
   * Negotiates over a connection that was just opened.
   * @param metaContext the property that `marked` reads
   * @param options.staysConnected until `close`, also after an error: for servers that readers must not leave
   */
  static async open(
    connection: NbdConnection,
    exportName: string,
    metaContext?: string,
    { staysConnected = false }: { readonly staysConnected?: boolean } = {},
  ): Promise<NbdDisk> {
    const options = { hasStructuredReplies: true, ...(metaContext !== undefined && { metaContext }) };
    return new NbdDisk(connection, await negotiate(connection, exportName, options), staysConnected);
  }

  async read(offset: number, length: number): Promise<Buffer> {
    this.expectWithin(offset, length);
    const data = Buffer.alloc(length);
    await this.request(COMMAND_READ, { offset, length, data });
    return data;
  }

  async write(offset: number, data: Buffer): Promise<void> {
    this.expectWithin(offset, data.length);
    await this.request(COMMAND_WRITE, { offset, length: data.length, data }, data);
  }

  /** Resolves once everything that was written is on the disk. */
  async flush(): Promise<void> {
    await this.request(COMMAND_FLUSH, { offset: 0, length: 0 });
  }

  /**
   * The parts for which the property of the meta context is not 0, in the order of the disk.
   * @param mask the bits of the property that count
   */
  async marked(mask = ALL_BITS): Promise<DiskExtent[]> {
    const found: { offset: number; length: number }[] = [];
    for (let at = 0; at < this.sizeBytes;) {
      const length = Math.min(STATUS_RANGE_BYTES, this.sizeBytes - at);
      const { status } = await this.request(COMMAND_BLOCK_STATUS, { offset: at, length });
      if (status.length === 0) throw violation('the state of the disk');
      for (const extent of status) {
        const last = found.at(-1);
        const end = Math.min(at + extent.length, this.sizeBytes);
        const isMarked = (extent.flags & mask) !== 0;
        if (isMarked && last && last.offset + last.length === at) last.length = end - last.offset;
        else if (isMarked) found.push({ offset: at, length: end - at });
        at = end;
      }
    }
    return found;
  }

  close(): void {
    const { socket } = this.connection;
    if (socket.destroyed) return;
    this.failure ??= brokenOff();
    socket.write(nbdRequest(COMMAND_DISCONNECT));
    socket.destroySoon();
  }

  get isClosed(): boolean {
    return this.failure !== undefined;
  }

  headerBytes(header: Buffer): number {
    if (header.length < MAGIC_BYTES) return MAGIC_BYTES;
    if (header.readUInt32BE(0) === SIMPLE_REPLY_MAGIC) return SIMPLE_REPLY_BYTES;
    if (header.length < STRUCTURED_REPLY_BYTES) return STRUCTURED_REPLY_BYTES;
    const [type, length] = [header.readUInt16BE(6), header.readUInt32BE(16)];
    const wanted = type === REPLY_TYPE_DATA ? OFFSET_BYTES : Math.min(length, MAX_STATUS_BYTES);
    return STRUCTURED_REPLY_BYTES + Math.min(wanted, length);
  }

  begin(header: Buffer): Buffer | undefined {
    const handle = Number(header.readBigUInt64BE(8));
    const request = this.requests.get(handle);
    if (!request) return this.fail(violation('a reply to a request'));
    const errorOf = request.command === COMMAND_READ ? readError : writeError;
    if (header.readUInt32BE(0) === SIMPLE_REPLY_MAGIC) {
      const errno = header.readUInt32BE(4);
      return errno === 0 ? this.complete(handle) : this.fail(errorOf(errno));
    }
    if (header.readUInt32BE(0) !== STRUCTURED_REPLY_MAGIC) return this.fail(violation('a reply to a request'));
    const type = header.readUInt16BE(6);
    if (type >= FIRST_ERROR_TYPE) {
      const errno = header.length >= STRUCTURED_REPLY_BYTES + 4 ? header.readUInt32BE(STRUCTURED_REPLY_BYTES) : 0;
      return this.fail(errorOf(errno));
    }
    const place = this.accept(request, type, header);
    if (!place) return this.fail(violation('the requested part of the disk'));
    const isDone = (header.readUInt16BE(4) & REPLY_FLAG_DONE) !== 0;
    if (place.length > 0) {
      this.completing = isDone ? handle : undefined;
      return place;
    }
    if (isDone) this.complete(handle);
    return undefined;
  }

  end(): void {
    if (this.completing !== undefined) this.complete(this.completing);
  }

  settle(): void {
    // Each request is resolved by its own reply.
  }

  /** @returns the place of the data, which may be empty, or undefined when it is not inside of the request */
  private accept(request: Request, type: number, header: Buffer): Buffer | undefined {
    const length = header.readUInt32BE(16);
    const payload = header.subarray(STRUCTURED_REPLY_BYTES);
    const isRead = request.command === COMMAND_READ;
    if (type === REPLY_TYPE_NONE) return NO_DATA;
    if (type === REPLY_TYPE_BLOCK_STATUS && request.command === COMMAND_BLOCK_STATUS) {
      for (let at = CONTEXT_BYTES; at + EXTENT_BYTES <= payload.length; at += EXTENT_BYTES)
        request.status.push({ length: payload.readUInt32BE(at), flags: payload.readUInt32BE(at + 4) });
      return NO_DATA;
    }
    const isHole = type === REPLY_TYPE_HOLE && length === HOLE_BYTES;
    if (!isRead || (!isHole && (type !== REPLY_TYPE_DATA || length < OFFSET_BYTES))) return undefined;
    const bytes = isHole ? payload.readUInt32BE(OFFSET_BYTES) : length - OFFSET_BYTES;
    const at = Number(payload.readBigUInt64BE(0)) - request.offset;
    if (at < 0 || at + bytes > request.data.length) return undefined;
    // The buffer has zeros where nothing arrives.
    return isHole ? NO_DATA : request.data.subarray(at, at + bytes);
  }

  private async request(
    command: number,
    { offset, length, data = NO_DATA }: { readonly offset: number; readonly length: number; readonly data?: Buffer },
    ...sent: readonly Buffer[]
  ): Promise<Request> {
    if (this.failure) throw this.failure;
    const handle = this.nextHandle++;
    return new Promise<Request>((resolve, reject) => {
      const request: Request = { command, offset, data, status: [], resolve: () => resolve(request), reject };
      this.requests.set(handle, request);
      this.connection.send(nbdRequest(command, { handle, offset, length }), ...sent);
    });
  }

  private complete(handle: number): undefined {
    this.completing = undefined;
    this.requests.get(handle)?.resolve();
    this.requests.delete(handle);
  }

  private fail(error: Error): undefined {
    this.failure ??= error;
    for (const { reject } of this.requests.values()) reject(this.failure);
    this.requests.clear();
    if (this.staysConnected) this.connection.socket.pause();
    else this.connection.socket.destroy();
  }

  private expectWithin(offset: number, length: number): void {
    if (offset + length > this.sizeBytes)
      throw new DomainError('BACKEND_FAILED', `The disk has ${this.sizeBytes} bytes, fewer than its content.`);
  }
}

const NO_DATA = Buffer.alloc(0);
const ALL_BITS = 0xffffffff;
