import { DomainError } from '@headgate/domain-contracts';
import type { NbdConnection, NbdReceiver } from './nbd-connection.js';

// https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md
const GREETING_BYTES = 18;
const MAGIC = 0x4e42444d41474943n;
const OPTION_MAGIC = 0x49484156454f5054n;
const FIXED_NEWSTYLE = 1;
const NO_ZEROES = 2;
const OPTION_GO = 7;
const OPTION_STRUCTURED_REPLY = 8;
const OPTION_SET_META_CONTEXT = 10;
const OPTION_REPLY_MAGIC = 0x3e889045565a9n;
const OPTION_REPLY_HEADER_BYTES = 20;
const REPLY_ACK = 1;
const REPLY_INFO = 3;
const REPLY_META_CONTEXT = 4;
const INFO_EXPORT = 0;
/** A reply to an option is at most this long. */
export const MAX_OPTION_REPLY_BYTES = 65_536;
const REQUEST_MAGIC = 0x25609513;
const REQUEST_BYTES = 28;

export const COMMAND_READ = 0;
export const COMMAND_WRITE = 1;
export const COMMAND_DISCONNECT = 2;
export const COMMAND_FLUSH = 3;
export const COMMAND_BLOCK_STATUS = 7;

/** Of a structured reply. */
export const STRUCTURED_REPLY_MAGIC = 0x668e33ef;
export const STRUCTURED_REPLY_BYTES = 20;
export const REPLY_FLAG_DONE = 1;
/** Errors begin at this type. */
export const FIRST_ERROR_TYPE = 2 ** 15;
/** Of the other replies. */
export const SIMPLE_REPLY_MAGIC = 0x67446698;
export const SIMPLE_REPLY_BYTES = 16;

const ENOSPC = 28;

export interface NbdRange {
  /** Identifies the request in its reply. */
  readonly handle: number;
  readonly offset: number;
  readonly length: number;
}

/** The header of a request. */
export function nbdRequest(command: number, { handle, offset, length }: Partial<NbdRange> = {}): Buffer {
  const message = Buffer.alloc(REQUEST_BYTES);
  message.writeUInt32BE(REQUEST_MAGIC, 0);
  message.writeUInt16BE(command, 6);
  message.writeBigUInt64BE(BigInt(handle ?? 0), 8);
  message.writeBigUInt64BE(BigInt(offset ?? 0), 16);
  message.writeUInt32BE(length ?? 0, 24);
  return message;
}

export interface NegotiationOptions {
  /** So that the server sends no data for holes. */
  readonly hasStructuredReplies: boolean;
  /**
   * The property of the disk's parts that COMMAND_BLOCK_STATUS reports, such as `qemu:allocation-depth`. Needs
   * structured replies.
   */
  readonly metaContext?: string;
}

/**
 * Negotiates over a connection that was just opened.
 * @returns the size of the disk
 * @throws DomainError BACKEND_FAILED
 */
export async function negotiate(
  connection: NbdConnection,
  exportName: string,
  { hasStructuredReplies, metaContext }: NegotiationOptions,
): Promise<number> {
  const greeting = new GreetingReader(connection);
  try {
    const hello = await greeting.take(GREETING_BYTES);
    if (hello.readBigUInt64BE(0) !== MAGIC || hello.readBigUInt64BE(8) !== OPTION_MAGIC) throw violation('a greeting');
    if ((hello.readUInt16BE(16) & FIXED_NEWSTYLE) === 0) throw violation('the fixed handshake');
    const flags = Buffer.alloc(4);
    flags.writeUInt32BE(FIXED_NEWSTYLE | NO_ZEROES);
    connection.send(flags);
    if (hasStructuredReplies) {
      connection.send(option(OPTION_STRUCTURED_REPLY));
      const { type } = await readOptionReply(greeting);
      if (type !== REPLY_ACK) throw violation('structured replies');
    }
    if (metaContext !== undefined) {
      connection.send(option(OPTION_SET_META_CONTEXT, contextPayload(exportName, metaContext)));
      await expectContext(greeting);
    }
    connection.send(option(OPTION_GO, goPayload(exportName)));
    return await readSize(greeting);
  } finally {
    greeting.end();
  }
}

/** Reads the messages of the handshake one after another. */
class GreetingReader implements NbdReceiver {
  private received: Buffer = Buffer.alloc(0);
  private failure?: Error;
  private notify: () => void = () => undefined;
  private readonly onEnd = (error?: unknown): void => {
    this.failure = brokenOff(error);
    this.notify();
  };

  constructor(private readonly connection: NbdConnection) {
    connection.setReceiver(this);
    connection.socket.once('error', this.onEnd).once('close', this.onEnd);
  }

  place(): undefined {
    return undefined;
  }

  receive(data: Buffer): void {
    this.received = Buffer.concat([this.received, data]);
    this.notify();
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

  /** The server sends nothing after the last message of the handshake until it is asked. */
  end(): void {
    this.connection.socket.off('error', this.onEnd).off('close', this.onEnd);
    this.connection.setReceiver(undefined);
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

function contextPayload(exportName: string, context: string): Buffer {
  const [name, query] = [Buffer.from(exportName), Buffer.from(context)];
  const payload = Buffer.alloc(4 + name.length + 4 + 4 + query.length);
  payload.writeUInt32BE(name.length, 0);
  name.copy(payload, 4);
  payload.writeUInt32BE(1, 4 + name.length);
  payload.writeUInt32BE(query.length, 8 + name.length);
  query.copy(payload, 12 + name.length);
  return payload;
}

async function expectContext(greeting: GreetingReader): Promise<void> {
  let isSelected = false;
  for (;;) {
    const { type } = await readOptionReply(greeting);
    if (type === REPLY_META_CONTEXT) isSelected = true;
    else if (type === REPLY_ACK && isSelected) return;
    else throw violation('the property of the disk that was requested');
  }
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
      throw new DomainError('BACKEND_FAILED', `The disk can't be opened: NBD reply ${type}.`);
    }
  }
}

export const violation = (missing: string): DomainError =>
  new DomainError('BACKEND_FAILED', `The program that serves the disk did not send ${missing}.`);

export const brokenOff = (cause?: unknown): DomainError =>
  new DomainError('BACKEND_FAILED', 'The program that serves the disk has ended unexpectedly.', { cause });

/** @param errno of Linux */
export const writeError = (errno: number): DomainError =>
  errno === ENOSPC
    ? new DomainError('INSUFFICIENT_STORAGE', 'The storage of the new disk is full: free some space.')
    : new DomainError('BACKEND_FAILED', `The disk can't be written: error ${errno}.`);

export const readError = (errno: number): DomainError =>
  new DomainError('BACKEND_FAILED', `The disk can't be read: error ${errno}.`);
