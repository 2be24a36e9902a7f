import {
  messageOf,
  type Audit,
  type Clock,
  type FleetAuditLog,
  type JournalPositions,
  type Log,
} from '@headgate/domain-contracts';
import type { SyslogConnection } from './syslog-connection.js';
import { entryMessage, lossMessage, type SyslogSender } from './syslog-message.js';

export interface JournalForwarderDeps {
  readonly journal: Pick<FleetAuditLog, 'find' | 'after'>;
  readonly positions: JournalPositions;
  readonly audit: Pick<Audit, 'subscribe'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly connect: (signal: AbortSignal) => Promise<SyslogConnection>;
}

export interface JournalForwarderOptions {
  readonly sender: SyslogSender;
  /** Names the position of this server, such as `tcp 192.0.2.1:601`. */
  readonly reader: string;
  /** How many entries may wait for a lost server. Older ones are not sent; the server gets their number. */
  readonly maxWaiting?: number;
}

const ENTRIES_PER_SEND = 100;
const MAX_WAITING = 10_000;
/** Entries that are recorded together are sent together. */
const INTERVAL_MS = 100;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** How the server of syslog is doing. */
export interface ForwarderState {
  readonly isConnected: boolean;
  /** Why the last attempt failed. */
  readonly error: string | undefined;
  readonly sent: number;
  /** Entries since the start of the service that were not sent. */
  readonly lost: number;
}

/**
 * Sends the entries of the journal to a server of syslog, in order. The journal itself is the queue: the position of
 * the server is stored, so that entries of the time in which the server or this service was down are sent later.
 */
export class JournalForwarder {
  private connection: SyslogConnection | undefined;
  private readonly stopped = new AbortController();
  private wake = Promise.withResolvers<void>();
  private running: Promise<void> | undefined;
  private unsubscribe: (() => void) | undefined;
  private cancelTimer: (() => void) | undefined;
  private error: string | undefined;
  private sent = 0;
  private lost = 0;

  constructor(
    private readonly deps: JournalForwarderDeps,
    private readonly options: JournalForwarderOptions,
  ) {}

  get state(): ForwarderState {
    return { isConnected: this.connection !== undefined, error: this.error, sent: this.sent, lost: this.lost };
  }

  /** Follows the journal. A server that is new gets the entries from now on. */
  start(): void {
    const { audit, clock, positions } = this.deps;
    const { reader } = this.options;
    const newest = this.newest();
    // A larger number is that of another registry.
    if ((positions.get(reader) ?? Infinity) > newest) positions.set(reader, newest);
    this.unsubscribe = audit.subscribe(() => {
      this.cancelTimer ??= clock.after(INTERVAL_MS, () => {
        this.cancelTimer = undefined;
        this.wake.resolve();
      });
    });
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.unsubscribe?.();
    this.cancelTimer?.();
    this.stopped.abort();
    this.wake.resolve();
    this.connection?.close();
    await this.running;
  }

  private async run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (!this.stopped.signal.aborted) {
      try {
        await this.connectAndSend(() => (retryMs = FIRST_RETRY_MS));
      } catch (error) {
        if (this.stopped.signal.aborted) return;
        const message = messageOf(error);
        if (message !== this.error) this.deps.log.warn({ error: message }, 'the server of syslog is lost');
        this.error = message;
      }
      await this.deps.clock.delay(retryMs, this.stopped.signal);
      retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
    }
  }

  private async connectAndSend(onSent: () => void): Promise<void> {
    const connection = await this.deps.connect(this.stopped.signal);
    if (this.stopped.signal.aborted) return connection.close();
    this.connection = connection;
    connection.ended.addEventListener('abort', () => this.wake.resolve(), { once: true });
    try {
      for (;;) {
        while (await this.sendNext(connection)) onSent();
        if (this.stopped.signal.aborted) return;
        connection.ended.throwIfAborted();
        if (this.error !== undefined) this.deps.log.info({}, 'the server of syslog is connected');
        this.error = undefined;
        await this.wake.promise;
        this.wake = Promise.withResolvers();
      }
    } finally {
      this.connection = undefined;
      connection.close();
    }
  }

  /** @returns whether there may be more */
  private async sendNext(connection: SyslogConnection): Promise<boolean> {
    const { journal, positions, clock } = this.deps;
    const { sender, reader } = this.options;
    if (this.stopped.signal.aborted) return false;
    connection.ended.throwIfAborted();
    const newest = this.newest();
    const position = positions.get(reader) ?? newest;
    const from = Math.max(position, newest - (this.options.maxWaiting ?? MAX_WAITING));
    const entries = journal.after(from, ENTRIES_PER_SEND);
    const through = entries.at(-1)?.number ?? newest;
    // Numbers have no gaps but those of deleted entries.
    const lost = through - position - entries.length;
    const messages = entries.map((entry) => entryMessage(sender, entry));
    if (lost > 0) messages.unshift(lossMessage(sender, clock.iso(), { after: position, through, lost }));
    if (messages.length === 0) return false;
    await connection.send(messages);
    positions.set(reader, through);
    this.lost += lost;
    this.sent += entries.length;
    return entries.length === ENTRIES_PER_SEND;
  }

  private newest(): number {
    return this.deps.journal.find({ limit: 1 })[0]?.number ?? 0;
  }
}
