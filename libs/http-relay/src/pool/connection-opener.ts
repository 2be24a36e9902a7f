import type { Socket } from 'node:net';
import { UpstreamBusy, UpstreamTimeout } from './upstream-errors.js';

/**
 * How long an upstream may accept no connection at all. When many callers arrive at the same time, the queue of its
 * listener is full (some servers hold 50), and the system tries again after 1, 3 and 7 s.
 */
export const CONNECT_TIMEOUT_MS = 10_000;
/**
 * How many connections are opened at the same time. Two openers, one of the relay and one of Node's client, fit into a
 * listener's queue of 50 together.
 */
const MAX_OPENING = 24;
/** A waiting request keeps its head and up to 64 KiB of its body in memory. */
const MAX_WAITING = 8_192;
/**
 * How long an attempt may take before a new one replaces it. The system would repeat it after 1, 3 and 7 s, while the
 * listener has room again much earlier. The time doubles until a connection opens, for an upstream that is far away.
 */
const MIN_ATTEMPT_MS = 250;
const MAX_ATTEMPT_MS = 4_000;
const CHECK_INTERVAL_MS = 100;

export interface ConnectionOpenerDeps<Waiter> {
  /** Begins to open a connection, for this waiter or another one. */
  dial: (waiter: Waiter) => Socket;
  /** The event of an open connection: `secureConnect` with TLS. */
  openEvent: 'connect' | 'secureConnect';
  deliver: (waiter: Waiter, socket: Socket) => void;
  reject: (waiter: Waiter, error: Error) => void;
  /** Receives a connection that no request waits for anymore. */
  spare: (socket: Socket) => void;
  maxOpening?: number;
  maxWaiting?: number;
  connectTimeoutMs?: number;
}

interface Waiting {
  readonly sinceMs: number;
  readonly limitMs: number;
}

interface Attempt {
  readonly socket: Socket;
  readonly sinceMs: number;
  /**
   * Its age in steps of the checks. When this process was busy, the connection may be open without its event having
   * arrived.
   */
  checkedMs: number;
  abandon: () => void;
}

/**
 * Opens connections to the upstream, a few at a time. Requests wait for them in the order of their arrival, as long as
 * the upstream accepts any connections: nothing was sent yet, so an attempt can be repeated for every method.
 */
export class ConnectionOpener<Waiter extends object> {
  private readonly waiters = new Map<Waiter, Waiting>();
  private readonly attempts = new Set<Attempt>();
  /** When the upstream accepted a connection last. */
  private acceptedMs = -Infinity;
  private attemptMs = MIN_ATTEMPT_MS;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private readonly maxOpening: number;
  private readonly maxWaiting: number;
  private readonly connectTimeoutMs: number;

  constructor(private readonly deps: ConnectionOpenerDeps<Waiter>) {
    this.maxOpening = deps.maxOpening ?? MAX_OPENING;
    this.maxWaiting = deps.maxWaiting ?? MAX_WAITING;
    this.connectTimeoutMs = deps.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  }

  /** How many requests wait for a connection. */
  get waitingCount(): number {
    return this.waiters.size;
  }

  /** How many connections are being opened. */
  get openingCount(): number {
    return this.attempts.size;
  }

  /**
   * Delivers a connection to `waiter`, or rejects it: with `UpstreamBusy` if too many wait, with `UpstreamTimeout` if
   * the upstream accepts no connection for 10 s or this takes longer than `limitMs`, or with the error of the
   * connection. Never before it returns.
   */
  open(waiter: Waiter, limitMs: number): void {
    if (this.isClosed || this.waiters.size >= this.maxWaiting) {
      queueMicrotask(() => this.deps.reject(waiter, new UpstreamBusy()));
      return;
    }
    this.waiters.set(waiter, { sinceMs: performance.now(), limitMs });
    this.timer ??= setInterval(() => this.check(performance.now()), CHECK_INTERVAL_MS).unref();
    this.dialMore();
  }

  cancel(waiter: Waiter): void {
    this.waiters.delete(waiter);
  }

  /** Removes the first waiter that `isServed` accepts, for a connection that became free. */
  next(isServed: (waiter: Waiter) => boolean): Waiter | undefined {
    for (const waiter of this.waiters.keys()) {
      if (!isServed(waiter)) continue;
      this.waiters.delete(waiter);
      return waiter;
    }
    return undefined;
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    this.timer = undefined;
    for (const attempt of this.attempts) attempt.abandon();
    this.rejectWaiters(() => true);
  }

  private dialMore(): void {
    for (const waiter of this.waiters.keys()) {
      if (this.attempts.size >= Math.min(this.waiters.size, this.maxOpening)) return;
      this.dial(waiter);
    }
  }

  private dial(first: Waiter): void {
    const socket = this.deps.dial(first);
    let error: Error | undefined;
    const onOpen = () => {
      settle();
      this.acceptedMs = performance.now();
      this.attemptMs = clamp(2 * (this.acceptedMs - attempt.sinceMs), MIN_ATTEMPT_MS, MAX_ATTEMPT_MS);
      const [waiter] = this.waiters.keys();
      if (waiter && this.waiters.delete(waiter)) this.deps.deliver(waiter, socket);
      else this.deps.spare(socket);
      this.dialMore();
    };
    const onError = (cause: Error) => (error = cause);
    const onClose = () => {
      settle();
      const [waiter] = this.waiters.keys();
      if (waiter && this.waiters.delete(waiter)) {
        this.deps.reject(waiter, error ?? new Error('the upstream closed the connection before it was open'));
      }
      this.dialMore();
    };
    const settle = () => {
      socket.off(this.deps.openEvent, onOpen).off('error', onError).off('close', onClose);
      this.attempts.delete(attempt);
    };
    const abandon = () => {
      settle();
      socket.on('error', () => undefined).destroy();
    };
    const attempt: Attempt = { socket, sinceMs: performance.now(), checkedMs: 0, abandon };
    this.attempts.add(attempt);
    socket.on(this.deps.openEvent, onOpen).on('error', onError).on('close', onClose);
  }

  private check(nowMs: number): void {
    this.rejectWaiters(
      ({ sinceMs, limitMs }) =>
        nowMs - sinceMs >= limitMs || nowMs - Math.max(sinceMs, this.acceptedMs) >= this.connectTimeoutMs,
    );
    this.abandonStuck();
    this.dialMore();
    if (this.waiters.size > 0 || this.attempts.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private abandonStuck(): void {
    let isAnyLost = false;
    for (const attempt of this.attempts) {
      // On a connection that was accepted, a handshake of TLS takes its time.
      const { connecting } = attempt.socket;
      attempt.checkedMs += CHECK_INTERVAL_MS;
      if (attempt.checkedMs < (connecting ? this.attemptMs : this.connectTimeoutMs)) continue;
      isAnyLost ||= connecting;
      attempt.abandon();
    }
    if (isAnyLost) this.attemptMs = Math.min(2 * this.attemptMs, MAX_ATTEMPT_MS);
  }

  private rejectWaiters(isOver: (waiting: Waiting) => boolean): void {
    for (const [waiter, waiting] of this.waiters) {
      if (!isOver(waiting)) continue;
      this.waiters.delete(waiter);
      this.deps.reject(waiter, new UpstreamTimeout());
    }
  }
}

const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);
