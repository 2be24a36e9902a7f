import type { Duplex } from 'node:stream';
import { CallQueue } from './call-queue.js';
import { LibvirtError, RpcCallError, RpcConnectionError, XdrError } from './errors.js';
import { Keepalive, type KeepaliveOptions } from './keepalive.js';
import type { Procedure } from './procedures.js';
import { RpcStream, type StreamOptions } from './rpc-stream.js';
import { systemTimers, type Timers } from './timers.js';
import { FrameDecoder } from './wire/frames.js';
import {
  decodeError,
  decodeMessage,
  encodeMessage,
  encodeRawMessage,
  KEEPALIVE_PROGRAM,
  MessageStatus,
  MessageType,
  PROGRAM_VERSION,
  QEMU_PROGRAM,
  REMOTE_PROGRAM,
  type Message,
} from './wire/message.js';
import { XdrReader } from './wire/xdr-reader.js';

export interface RpcCallOptions {
  /** The time after which the call is rejected. libvirt may still carry it out. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** It may take seconds: it never takes the place of short calls. */
  readonly isSlow?: boolean;
}

interface PendingCall {
  readonly program: number;
  readonly procedure: number;
  readonly reply: (message: Message) => void;
  readonly reject: (error: Error) => void;
  readonly finished: () => void;
  /** Called with a reply that arrives after the call was given up. */
  readonly late?: (message: Message) => void;
}

interface SendHooks {
  readonly sent?: (serial: number) => void;
  readonly late?: (message: Message) => void;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_SERIAL = 0xffffffff;

/**
 * One connection to libvirt over any stream of bytes. Calls are multiplexed; when the connection ends, every call and
 * stream fails with the same `RpcConnectionError`.
 */
export class RpcConnection {
  private readonly calls = new Map<number, PendingCall>();
  /** Calls that were given up and whose replies are still to come. */
  private readonly abandoned = new Map<number, PendingCall>();
  private readonly streams = new Map<number, RpcStream>();
  private readonly eventListeners = new Map<number, (payload: Buffer) => void>();
  private readonly closeListeners = new Set<(error: RpcConnectionError) => void>();
  private readonly queue = new CallQueue();
  private readonly decoder = new FrameDecoder();
  private readonly keepalive: Keepalive;
  private readonly pausedStreams = new Set<number>();
  private lastSerial = 0;
  private error?: RpcConnectionError;

  constructor(
    private readonly transport: Duplex,
    private readonly timers: Timers = systemTimers,
  ) {
    this.keepalive = new Keepalive({
      timers,
      send: (message) => this.transport.write(message),
      isReading: () => !this.transport.isPaused(),
      onDead: () => this.fail(new RpcConnectionError('unreachable', 'libvirt does not respond: keepalive timeout.')),
    });
    transport.on('data', (chunk: Buffer) => this.receive(chunk));
    transport.on('error', (cause) => this.fail(asConnectionError(cause)));
    const onEnd = (): void => this.fail(new RpcConnectionError('unreachable', 'libvirt closed the connection.'));
    transport.on('end', onEnd);
    transport.on('close', onEnd);
  }

  /** Why the connection ended; undefined while it is usable. */
  get closed(): RpcConnectionError | undefined {
    return this.error;
  }

  /** The number of calls that were given up without a reply. They take up places until libvirt answers them. */
  get abandonedCalls(): number {
    return this.abandoned.size;
  }

  /** @param listener called once, also if the connection has ended already */
  onClose(listener: (error: RpcConnectionError) => void): void {
    if (this.error) listener(this.error);
    else this.closeListeners.add(listener);
  }

  startKeepalive(options: KeepaliveOptions): void {
    if (!this.error) this.keepalive.start(options);
  }

  /**
   * @throws LibvirtError if libvirt refuses the call
   * @throws RpcCallError if it takes too long or is aborted
   * @throws RpcConnectionError if the connection ends before the reply
   */
  call<A, R>(procedure: Procedure<A, R>, args: A, options: RpcCallOptions = {}): Promise<R> {
    return this.send(procedure, args, options).then(({ payload }) => procedure.result.read(new XdrReader(payload)));
  }

  /** Calls a procedure that opens a stream. */
  async openStream<A>(
    procedure: Procedure<A, void>,
    args: A,
    streamOptions: StreamOptions,
    options: RpcCallOptions = {},
  ): Promise<RpcStream> {
    let opening: { serial: number; stream: RpcStream } | undefined;
    const ignore = (): void => undefined;
    try {
      await this.send(procedure, args, options, {
        // Data may arrive right after the reply.
        sent: (serial) => {
          opening = { serial, stream: this.createStream(procedure.number, serial, streamOptions).on('error', ignore) };
          this.streams.set(serial, opening.stream);
        },
        late: ({ header }) => {
          if (header.status === MessageStatus.ok) opening?.stream.destroy();
          else this.forgetStream(header.serial);
        },
      });
      if (this.error) throw this.error;
    } catch (error) {
      if (opening && error instanceof LibvirtError) this.forgetStream(opening.serial);
      throw error;
    }
    const { stream } = opening as unknown as { stream: RpcStream };
    return stream.off('error', ignore);
  }

  /** Calls the listener with the payload of each event message of a procedure. */
  onEvent(procedure: number, listener: (payload: Buffer) => void): void {
    this.eventListeners.set(procedure, listener);
  }

  /** Ends the connection immediately; every pending call is rejected. */
  close(): void {
    this.fail(new RpcConnectionError('closed', 'The connection to libvirt was closed.'));
  }

  private send<A, R>(
    procedure: Procedure<A, R>,
    args: A,
    { timeoutMs = DEFAULT_TIMEOUT_MS, signal, isSlow = false }: RpcCallOptions,
    hooks: SendHooks = {},
  ): Promise<Message> {
    return new Promise((resolve, reject) => {
      if (this.error) return reject(this.error);
      if (signal?.aborted) return reject(aborted());
      let serial: number | undefined;
      const end = (): void => {
        cancelTimer();
        signal?.removeEventListener('abort', onAbort);
      };
      const giveUp = (error: RpcCallError): void => {
        end();
        if (!removeFromQueue() && serial !== undefined) this.abandon(serial);
        this.closeListeners.delete(onClose);
        reject(error);
      };
      const onAbort = (): void => giveUp(aborted());
      const onClose = (error: RpcConnectionError): void => {
        end();
        reject(error);
      };
      const cancelTimer = this.timers.after(timeoutMs, () =>
        giveUp(new RpcCallError('timeout', `libvirt did not answer ${procedure.name} within ${timeoutMs} ms.`)),
      );
      signal?.addEventListener('abort', onAbort, { once: true });
      // Rejects the call if the connection ends while it waits.
      this.closeListeners.add(onClose);
      const removeFromQueue = this.queue.add(isSlow, (finished) => {
        this.closeListeners.delete(onClose);
        try {
          serial = this.nextSerial();
          const message = encodeMessage(
            headerOf(procedure.number, MessageType.call, serial, procedure.program),
            procedure.args,
            args,
          );
          this.calls.set(serial, {
            program: procedure.program ?? REMOTE_PROGRAM,
            procedure: procedure.number,
            reply: (reply) => (end(), resolve(reply)),
            reject: (error) => (end(), reject(error)),
            finished,
            late: hooks.late,
          });
          hooks.sent?.(serial);
          this.transport.write(message);
        } catch (error) {
          end();
          finished();
          reject(error as Error);
        }
      });
    });
  }

  private createStream(procedure: number, serial: number, options: StreamOptions): RpcStream {
    return new RpcStream(
      {
        send: (status, data, sent) => {
          if (this.error) return sent?.(this.error);
          const message = encodeRawMessage({ ...headerOf(procedure, MessageType.stream, serial), status }, data);
          this.transport.write(message, sent);
        },
        setReading: (isReading) => this.setReading(serial, isReading),
        finished: () => this.forgetStream(serial),
      },
      options,
    );
  }

  private forgetStream(serial: number): void {
    this.streams.delete(serial);
    this.setReading(serial, true);
  }

  private setReading(serial: number, isReading: boolean): void {
    if (isReading) this.pausedStreams.delete(serial);
    else this.pausedStreams.add(serial);
    if (this.pausedStreams.size > 0) this.transport.pause();
    else if (this.transport.isPaused()) this.transport.resume();
  }

  private abandon(serial: number): void {
    const call = this.calls.get(serial);
    if (!call) return;
    this.calls.delete(serial);
    this.abandoned.set(serial, call);
  }

  private nextSerial(): number {
    do this.lastSerial = this.lastSerial >= MAX_SERIAL ? 1 : this.lastSerial + 1;
    while (this.calls.has(this.lastSerial) || this.abandoned.has(this.lastSerial) || this.streams.has(this.lastSerial));
    return this.lastSerial;
  }

  private receive(chunk: Buffer): void {
    if (this.error) return;
    this.keepalive.received();
    try {
      for (const message of this.decoder.push(chunk)) this.dispatch(decodeMessage(message));
    } catch (error) {
      this.fail(asConnectionError(error));
    }
  }

  private dispatch(message: Message): void {
    if (this.error) return;
    const { header } = message;
    if (header.program === KEEPALIVE_PROGRAM && this.keepalive.answer(header)) return;
    const isReplyOfQemu = header.program === QEMU_PROGRAM && header.type === MessageType.reply;
    if ((header.program !== REMOTE_PROGRAM && !isReplyOfQemu) || header.version !== PROGRAM_VERSION) {
      throw violation(`a message of the program ${header.program}, version ${header.version}`);
    }
    switch (header.type) {
      case MessageType.reply:
        return this.dispatchReply(message);
      case MessageType.event:
        // libvirt may send events that this client does not know.
        return this.eventListeners.get(header.procedure)?.(message.payload);
      case MessageType.stream:
      case MessageType.streamHole:
        return this.dispatchStream(message);
      default:
        throw violation(`a message of the type ${header.type}`);
    }
  }

  private dispatchReply(message: Message): void {
    const { serial, program, procedure, status } = message.header;
    const abandoned = this.abandoned.get(serial);
    if (abandoned) {
      this.abandoned.delete(serial);
      abandoned.finished();
      return abandoned.late?.(message);
    }
    const call = this.calls.get(serial);
    if (!call) throw violation(`a reply to the unknown call ${serial}`);
    if (call.program !== program) throw violation(`a reply of the program ${program} to a call of ${call.program}`);
    if (call.procedure !== procedure)
      throw violation(`a reply of the procedure ${procedure} to a call of ${call.procedure}`);
    if (status !== MessageStatus.ok && status !== MessageStatus.error)
      throw violation(`the status ${status} in a reply`);
    this.calls.delete(serial);
    call.finished();
    if (status === MessageStatus.ok) return call.reply(message);
    try {
      call.reject(decodeError(message.payload));
    } catch (error) {
      call.reject(asConnectionError(error));
      throw error;
    }
  }

  private dispatchStream(message: Message): void {
    const stream = this.streams.get(message.header.serial);
    if (stream) stream.receive(message);
    else throw violation(`data of the unknown stream ${message.header.serial}`);
  }

  private fail(error: RpcConnectionError): void {
    if (this.error) return;
    this.error = error;
    this.keepalive.stop();
    this.queue.clear();
    const calls = [...this.calls.values()];
    const streams = [...this.streams.values()];
    const listeners = [...this.closeListeners];
    this.calls.clear();
    this.abandoned.clear();
    this.streams.clear();
    this.closeListeners.clear();
    for (const call of calls) call.reject(error);
    for (const stream of streams) stream.disconnect(error);
    for (const listener of listeners) listener(error);
    this.transport.destroy();
  }
}

const headerOf = (procedure: number, type: number, serial: number, program = REMOTE_PROGRAM) => ({
  program,
  version: PROGRAM_VERSION,
  procedure,
  type,
  serial,
  status: MessageStatus.ok,
});

const aborted = (): RpcCallError => new RpcCallError('aborted', 'The call was aborted.');

const violation = (what: string): RpcConnectionError => new RpcConnectionError('protocol', `libvirt sent ${what}.`);

function asConnectionError(cause: unknown): RpcConnectionError {
  if (cause instanceof RpcConnectionError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof XdrError) return new RpcConnectionError('protocol', message, { cause });
  return new RpcConnectionError('unreachable', `The connection to libvirt broke: ${message}.`, { cause });
}
