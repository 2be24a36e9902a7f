import {
  encodeRawMessage,
  KEEPALIVE_PROGRAM,
  MessageStatus,
  MessageType,
  PROGRAM_VERSION,
  type Header,
} from './wire/message.js';
import type { Timers } from './timers.js';

const PING = 1;
const PONG = 2;

export interface KeepaliveOptions {
  readonly intervalMs: number;
  /** The number of unanswered pings after which the peer counts as dead. */
  readonly count: number;
}

export interface KeepaliveDeps {
  readonly timers: Timers;
  readonly send: (message: Buffer) => void;
  /** Whether messages of the peer are read at the moment. */
  readonly isReading: () => boolean;
  readonly onDead: () => void;
}

/** libvirt's keepalive protocol, in both directions. Any message of the peer counts as a sign of life. */
export class Keepalive {
  private cancel?: () => void;
  private unanswered = 0;
  private hasReceived = false;

  constructor(private readonly deps: KeepaliveDeps) {}

  /** Begins to send pings. */
  start(options: KeepaliveOptions): void {
    this.stop();
    this.cancel = this.deps.timers.after(options.intervalMs, () => this.tick(options));
  }

  stop(): void {
    this.cancel?.();
    this.cancel = undefined;
  }

  received(): void {
    this.hasReceived = true;
  }

  /** @returns false if the message is no part of the protocol */
  answer({ procedure, type, version }: Header): boolean {
    if (version !== PROGRAM_VERSION || type !== MessageType.event) return false;
    if (procedure === PING) this.deps.send(message(PONG));
    return procedure === PING || procedure === PONG;
  }

  private tick(options: KeepaliveOptions): void {
    if (this.hasReceived || !this.deps.isReading()) this.unanswered = 0;
    this.hasReceived = false;
    if (this.unanswered >= options.count) return this.deps.onDead();
    this.unanswered++;
    this.deps.send(message(PING));
    this.start(options);
  }
}

const message = (procedure: number): Buffer =>
  encodeRawMessage(
    {
      program: KEEPALIVE_PROGRAM,
      version: PROGRAM_VERSION,
      procedure,
      type: MessageType.event,
      serial: 0,
      status: MessageStatus.ok,
    },
    new Uint8Array(0),
  );
