import { duplexPair, type Duplex } from 'node:stream';
import { LibvirtError } from '../errors.js';
import type { Procedure } from '../procedures.js';
import type { Codec } from '../wire/codec.js';
import { FrameDecoder } from '../wire/frames.js';
import {
  decodeMessage,
  encodeMessage,
  encodeRawMessage,
  errorPayload,
  MessageStatus,
  MessageType,
  PROGRAM_VERSION,
  REMOTE_PROGRAM,
  type Header,
  type Message,
} from '../wire/message.js';
import { XdrReader } from '../wire/xdr-reader.js';

type Handler = (payload: Buffer, header: Header) => void;

/** The other side of a connection: it answers as the test says, byte by byte if it wants. */
export class FakeDaemon {
  /** The client's end. */
  readonly transport: Duplex;
  readonly received: Message[] = [];
  /** Delivers everything in chunks of this size. */
  chunkBytes = Infinity;
  private readonly end: Duplex;
  private readonly handlers = new Map<number, Handler>();
  private readonly waiting: (() => void)[] = [];

  constructor() {
    [this.transport, this.end] = duplexPair({ highWaterMark: 64 * 1024 });
    const decoder = new FrameDecoder();
    this.end.on('data', (chunk: Buffer) => {
      for (const bytes of decoder.push(chunk)) {
        const message = decodeMessage(bytes);
        this.received.push(message);
        this.waiting.splice(0).forEach((check) => check());
        if (message.header.type === MessageType.call) {
          this.handlers.get(message.header.procedure)?.(message.payload, message.header);
        }
      }
    });
    this.end.on('error', () => undefined);
  }

  /** Answers each call of a procedure with a result, or with the error that is thrown. */
  answer<A, R>(procedure: Procedure<A, R>, handle: (args: A) => R): void {
    this.handle(procedure, (args, header) => {
      try {
        this.reply(procedure, header.serial, handle(args));
      } catch (error) {
        if (!(error instanceof LibvirtError)) throw error;
        this.replyError(procedure, header.serial, error);
      }
    });
  }

  handle<A, R>(procedure: Procedure<A, R>, handle: (args: A, header: Header) => void): void {
    this.handlers.set(procedure.number, (payload, header) =>
      handle(procedure.args.read(new XdrReader(payload)), header),
    );
  }

  reply<A, R>(procedure: Procedure<A, R>, serial: number, result: R): void {
    this.send({ procedure: procedure.number, serial }, procedure.result, result);
  }

  replyError(procedure: Procedure<never, unknown> | { number: number }, serial: number, error: LibvirtError): void {
    this.send({ procedure: procedure.number, serial, status: MessageStatus.error }, errorPayload, error);
  }

  send<T>(header: Partial<Header>, codec: Codec<T>, value: T): void {
    this.write(encodeMessage(complete(header), codec, value));
  }

  sendRaw(header: Partial<Header>, payload: Uint8Array = new Uint8Array(0)): void {
    this.write(encodeRawMessage(complete(header), payload));
  }

  write(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += this.chunkBytes) {
      this.end.write(bytes.subarray(from, from + this.chunkBytes));
    }
  }

  /** Resolves when the condition holds, which is checked after each received message. */
  async until(isMet: () => boolean): Promise<void> {
    while (!isMet()) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  calls(procedure: Procedure<never, unknown> | { number: number }): Message[] {
    return this.received.filter(
      ({ header }) => header.type === MessageType.call && header.procedure === procedure.number,
    );
  }

  /** Messages of a stream. */
  streamMessages(serial: number): Message[] {
    return this.received.filter(({ header }) => header.type === MessageType.stream && header.serial === serial);
  }

  pauseReading(): void {
    this.end.pause();
  }

  resumeReading(): void {
    this.end.resume();
  }

  hangUp(): void {
    this.end.destroy();
  }
}

const complete = (header: Partial<Header>): Header => ({
  program: REMOTE_PROGRAM,
  version: PROGRAM_VERSION,
  procedure: 0,
  type: MessageType.reply,
  serial: 0,
  status: MessageStatus.ok,
  ...header,
});
