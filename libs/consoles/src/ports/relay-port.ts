import { messageOf, type Clock, type GuestConnection } from '@headgate/domain-contracts';
import { CLOSE_CODES, closeReason } from '../viewer.js';
import type { PortClient } from './port-client.js';

/** A client with more unsent bytes pauses the guest. */
const MAX_BUFFERED_BYTES = 262_144;
/** A connection on which no byte was sent for so long is closed, in either direction. */
export const PORT_IDLE_MS = 3_600_000;
/** How long the guest may be silent after the end of the input of a client, where that end can't be passed on. */
export const PORT_DRAIN_MS = 10_000;

export interface PortRelayOptions {
  readonly clock: Clock;
  /** Of the `GuestPorts`. */
  readonly passesEnd: boolean;
}

/**
 * Copies the bytes between a client and a port of a guest. Each side is read as fast as the other one receives, so a
 * connection holds little more than `MAX_BUFFERED_BYTES`. A client that leaves without an end aborts the connection.
 */
export function relayPort(client: PortClient, guest: GuestConnection, options: PortRelayOptions): void {
  new PortRelay(client, guest, options).start();
}

class PortRelay {
  private isPaused = false;
  private hasClientEnded = false;
  private failure: Error | undefined;
  private lastByteMs: number;
  private cancelTimeout: () => void = () => undefined;

  constructor(
    private readonly client: PortClient,
    private readonly guest: GuestConnection,
    private readonly options: PortRelayOptions,
  ) {
    this.lastByteMs = options.clock.now();
  }

  start(): void {
    const { client, guest } = this;
    guest.on('data', (data: Buffer) => this.toClient(data));
    guest.once('end', () => client.sendEnd());
    guest.on('error', (error) => (this.failure = error));
    guest.once('close', () => this.ended());
    client.onData((data) => this.toGuest(data));
    client.onEnd(() => this.clientEnded());
    client.onClose(() => this.clientLeft());
    this.watchIdleness(PORT_IDLE_MS);
    client.resume();
  }

  private toClient(data: Buffer): void {
    const { client, guest } = this;
    this.lastByteMs = this.options.clock.now();
    client.send(data, () => {
      if (!this.isPaused || client.buffered > MAX_BUFFERED_BYTES / 2) return;
      this.isPaused = false;
      guest.resume();
    });
    if (client.buffered <= MAX_BUFFERED_BYTES) return;
    this.isPaused = true;
    guest.pause();
  }

  private toGuest(data: Buffer): void {
    const { client, guest } = this;
    if (this.hasClientEnded) return client.close(CLOSE_CODES.protocol, 'Bytes were sent after their end.');
    if (guest.destroyed || guest.writableEnded) return;
    this.lastByteMs = this.options.clock.now();
    if (guest.write(data)) return;
    client.pause();
    const resume = (): void => {
      guest.off('drain', resume).off('close', resume);
      client.resume();
    };
    guest.on('drain', resume).on('close', resume);
  }

  private clientEnded(): void {
    if (this.hasClientEnded) return;
    this.hasClientEnded = true;
    this.guest.end();
    if (!this.options.passesEnd) this.watchIdleness(PORT_DRAIN_MS);
  }

  private clientLeft(): void {
    this.cancelTimeout();
    if (this.guest.destroyed) return;
    // Input that is cut off must not look complete.
    if (!this.hasClientEnded && this.guest.reset) this.guest.reset();
    else this.guest.destroy();
  }

  private ended(): void {
    this.cancelTimeout();
    if (!this.failure) return this.client.close(CLOSE_CODES.ended, 'The connection has ended.');
    this.client.close(CLOSE_CODES.failed, closeReason(reasonOf(this.failure)));
  }

  private watchIdleness(limitMs: number): void {
    const { clock } = this.options;
    this.cancelTimeout();
    const check = (): void => {
      const idleMs = clock.now() - this.lastByteMs;
      if (idleMs >= limitMs) return this.endIdle();
      this.cancelTimeout = clock.after(limitMs - idleMs, check);
    };
    this.lastByteMs = clock.now();
    this.cancelTimeout = clock.after(limitMs, check);
  }

  private endIdle(): void {
    if (this.hasClientEnded && !this.options.passesEnd) return void this.guest.destroy();
    this.client.close(CLOSE_CODES.stalled, 'No byte was sent for an hour.');
  }
}

function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'The guest has reset the connection.';
  return code === 'ETIMEDOUT' ? 'The guest does not answer any more.' : messageOf(error);
}
