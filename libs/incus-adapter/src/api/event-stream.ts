import { once } from 'node:events';
import { DomainError, messageOf, type Clock } from '@headgate/domain-contracts';
import type { WebSocket } from 'ws';
import type { IncusApi } from './incus-api.js';
import type { EventObject } from './incus-objects.js';

export interface EventSink {
  /**
   * Called when the socket is open, and again after each loss: everything that was read before may be out of date.
   * Events are emitted already while it runs. When it throws, the server counts as lost.
   */
  connected(signal: AbortSignal): Promise<void>;
  event(event: EventObject): void;
  /** Called once for each loss. */
  lost(error: DomainError): void;
}

export interface EventStreamDeps {
  readonly api: IncusApi;
  readonly clock: Clock;
  /** Selects one project, or all of them. */
  readonly scope: Readonly<Record<string, string>>;
}

const RETRY_FIRST_MS = 100;
const RETRY_LIMIT_MS = 1_000;
/** A server that has not answered a ping when the next one is due is lost. */
const PING_INTERVAL_MS = 5_000;

/** Follows the events of a server over one websocket, which it opens again after every loss. */
export class EventStream {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private isLost = false;
  private failures = 0;

  constructor(
    private readonly deps: EventStreamDeps,
    private readonly sink: EventSink,
  ) {}

  start(): this {
    this.running ??= this.run();
    return this;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const error = await this.follow(signal);
      if (signal.aborted) return;
      if (!this.isLost) this.sink.lost(error);
      this.isLost = true;
      await this.deps.clock.delay(Math.min(RETRY_LIMIT_MS, RETRY_FIRST_MS * 2 ** this.failures), signal);
      this.failures = Math.min(this.failures + 1, 10);
    }
  }

  /** @returns the reason why the stream has ended */
  private async follow(signal: AbortSignal): Promise<DomainError> {
    const { api, scope } = this.deps;
    let socket: WebSocket | undefined;
    try {
      await api.readServer(signal);
      socket = await api.socket('/1.0/events', { type: 'lifecycle,operation', ...scope }, signal);
      const closed = this.listen(socket, signal);
      await Promise.race([this.sink.connected(signal), closed]);
      if (socket.readyState === socket.OPEN) {
        this.isLost = false;
        this.failures = 0;
      }
      await closed;
      return new DomainError('BACKEND_UNREACHABLE', `${api.context}: the server has closed its stream of events.`);
    } catch (error) {
      if (error instanceof DomainError && error.code !== 'BACKEND_TIMEOUT') return error;
      return new DomainError('BACKEND_UNREACHABLE', messageOf(error), { cause: error });
    } finally {
      socket?.terminate();
    }
  }

  /** @returns when the socket is closed */
  private async listen(socket: WebSocket, signal: AbortSignal): Promise<void> {
    const terminate = (): void => socket.terminate();
    signal.addEventListener('abort', terminate);
    let isAlive = true;
    const cancelPings = this.deps.clock.every(PING_INTERVAL_MS, () => {
      if (!isAlive) return terminate();
      isAlive = false;
      socket.ping();
    });
    socket.on('pong', () => (isAlive = true));
    socket.on('message', (data: Buffer) => {
      isAlive = true;
      const event = parseEvent(data);
      if (event) this.sink.event(event);
    });
    if (socket.readyState !== socket.CLOSED) await once(socket, 'close');
    cancelPings();
    signal.removeEventListener('abort', terminate);
  }
}

function parseEvent(data: Buffer): EventObject | undefined {
  try {
    const event = JSON.parse(data.toString()) as EventObject | null;
    return typeof event?.type === 'string' && typeof event.metadata === 'object' ? event : undefined;
  } catch {
    return undefined;
  }
}
