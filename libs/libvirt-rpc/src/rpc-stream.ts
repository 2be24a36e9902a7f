import { Duplex } from 'node:stream';
import { LibvirtError, RpcConnectionError, XdrError } from './errors.js';
import { decodeError, MessageStatus, MessageType, type Message } from './wire/message.js';

/** The largest payload of one stream message that every version of libvirt accepts. */
const MAX_CHUNK_BYTES = 262_120;

export interface StreamPort {
  /** Sends a stream message. @param sent called when the connection can take more */
  send(status: number, data: Uint8Array, sent?: (error?: Error | null) => void): void;
  /** Called whenever the reader can take more or no more data. */
  setReading(isReading: boolean): void;
  /** Called when no more messages of the stream will arrive. */
  finished(): void;
}

export interface StreamOptions {
  readonly readable: boolean;
  readonly writable: boolean;
}

const NO_DATA = new Uint8Array(0);

/**
 * The data of a call, such as the content of a volume. Ending the writable side completes the stream, and `finish` is
 * emitted when libvirt has confirmed that; destroying it earlier aborts it in libvirt. A slow reader pauses the whole
 * connection, because libvirt has no flow control per stream: large transfers use a connection of their own.
 */
export class RpcStream extends Duplex {
  private isReading = true;
  private hasEnded = false;
  private isComplete = false;
  private isAborted = false;
  private confirm?: (error?: Error | null) => void;

  constructor(
    private readonly port: StreamPort,
    private readonly options: StreamOptions,
  ) {
    // After the last data, libvirt waits for the confirmation that ends the stream.
    super({ allowHalfOpen: !options.readable });
    if (!options.readable) {
      this.endReading();
      this.resume();
    }
  }

  /** @internal A message of the stream, from the connection. */
  receive({ header, payload }: Message): void {
    if (this.isComplete) return;
    if (this.isAborted && header.status === MessageStatus.continue) return;
    if (header.type !== MessageType.stream) return this.reject(protocolError('an unknown kind of message'));
    if (header.status === MessageStatus.error) return this.fail(toError(payload));
    if (header.status === MessageStatus.ok) return this.complete();
    if (header.status !== MessageStatus.continue) return this.reject(protocolError(`the status ${header.status}`));
    if (payload.length === 0) return this.endReading();
    if (!this.options.readable) return this.reject(protocolError('data for an upload'));
    if (!this.hasEnded && !this.push(payload)) this.setReading(false);
  }

  /** @internal The connection was lost. */
  disconnect(error: Error): void {
    this.isComplete = true;
    this.settle(error);
    this.destroy(error);
  }

  override _read(): void {
    this.setReading(true);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (!this.options.writable) return done(new Error('This stream can only be read.'));
    this.writeFrom(chunk, 0, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.isComplete) return done();
    this.confirm = done;
    this.port.send(MessageStatus.ok, NO_DATA);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.isComplete) {
      this.isAborted = true;
      // Consumers destroy a stream that they have read to its end.
      const isAtEnd = error === null && this.options.readable && this.hasEnded;
      if (!isAtEnd) this.port.send(MessageStatus.error, NO_DATA);
      else if (!this.confirm) this.port.send(MessageStatus.ok, NO_DATA);
    }
    this.setReading(true);
    done(error);
  }

  private writeFrom(chunk: Buffer, from: number, done: (error?: Error | null) => void): void {
    // An empty message would mean the end of the data.
    if (from >= chunk.length) return done();
    if (this.isComplete) return done(this.errored ?? protocolError('the end of the stream'));
    const part = chunk.subarray(from, from + MAX_CHUNK_BYTES);
    this.port.send(MessageStatus.continue, part, (error) => {
      if (error) return done(error);
      this.writeFrom(chunk, from + part.length, done);
    });
  }

  private endReading(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.push(null);
  }

  private complete(): void {
    this.isComplete = true;
    this.port.finished();
    if (this.isAborted) return;
    if (this.options.readable) this.endReading();
    this.settle();
    // The guest or libvirt ended it first.
    if (!this.writableEnded) this.end();
  }

  private fail(error: Error): void {
    this.isComplete = true;
    this.port.finished();
    if (this.isAborted) return;
    this.settle(error);
    this.destroy(error);
  }

  /** Aborts the stream in libvirt as well. */
  private reject(error: Error): void {
    this.settle(error);
    this.destroy(error);
  }

  private settle(error?: Error): void {
    const { confirm } = this;
    this.confirm = undefined;
    confirm?.(error);
  }

  private setReading(isReading: boolean): void {
    if (this.isReading === isReading) return;
    this.isReading = isReading;
    this.port.setReading(isReading);
  }
}

function toError(payload: Buffer): LibvirtError | RpcConnectionError {
  try {
    return decodeError(payload);
  } catch (error) {
    if (error instanceof XdrError) return protocolError('an error that can not be decoded');
    throw error;
  }
}

const protocolError = (what: string): RpcConnectionError =>
  new RpcConnectionError('protocol', `libvirt sent ${what} in a stream.`);
