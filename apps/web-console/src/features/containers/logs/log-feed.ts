import { ApiError } from '../../../shared/api/api-error.js';
import { LineSplitter } from './line-splitter.js';
import { LogPosition, timedLine, type TimedLine } from './log-position.js';
import { plainLine } from './plain-line.js';

/** More lines are not kept in the page; the download has up to 100,000. */
export const MAX_LINES = 5000;
/** Lines that arrive in between are shown together. */
const SHOW_INTERVAL_MS = 60;
const MIN_RETRY_MS = 1000;
const MAX_RETRY_MS = 10_000;

export interface LogState {
  /** The oldest first. */
  readonly lines: readonly TimedLine[];
  /** How many earlier lines were dropped. */
  readonly dropped: number;
  /**
   * `loading`: no response yet. `open`: new lines arrive. `ended`: it was read to its end. `retrying`: it broke off and
   * is opened again. `failed`: it can't be read, with the error.
   */
  readonly phase: 'loading' | 'open' | 'ended' | 'retrying' | 'failed';
  readonly error?: Error;
}

export interface LogFeedOptions {
  /** Opens the log with the times of the lines, from a time on. */
  readonly open: (since: string | undefined, signal: AbortSignal) => Promise<Pick<Response, 'body'>>;
  /** Whether it goes on until the container ends, and is opened again if it breaks off. */
  readonly follows: boolean;
}

/** The log of a container as it arrives, over any number of connections. */
export class LogFeed {
  private state: LogState = { lines: [], dropped: 0, phase: 'loading' };
  private readonly listeners = new Set<() => void>();
  private readonly position = new LogPosition();
  private readonly closing = new AbortController();
  private arrived: TimedLine[] = [];
  private showTimer: ReturnType<typeof setTimeout> | undefined;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private retryMs = MIN_RETRY_MS;

  constructor(private readonly options: LogFeedOptions) {}

  readonly getState = (): LogState => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  start(): void {
    void this.read();
  }

  close(): void {
    this.closing.abort();
    clearTimeout(this.showTimer);
    clearTimeout(this.retryTimer);
    this.listeners.clear();
  }

  private async read(): Promise<void> {
    const { signal } = this.closing;
    this.position.restart();
    try {
      const { body } = await this.options.open(this.position.since, signal);
      if (signal.aborted) return;
      this.change({ phase: 'open', error: undefined });
      await this.readBody(body);
      if (signal.aborted) return;
      this.show();
      if (this.options.follows) this.retryLater({ phase: 'retrying', error: undefined });
      else this.change({ phase: 'ended' });
    } catch (error) {
      if (signal.aborted) return;
      this.show();
      const reason = error instanceof Error ? error : new Error(String(error));
      if (this.options.follows && isPassing(reason)) this.retryLater({ phase: 'retrying', error: reason });
      else this.change({ phase: 'failed', error: reason });
    }
  }

  private async readBody(body: Response['body']): Promise<void> {
    const { signal } = this.closing;
    const reader = body?.getReader();
    if (!reader) return;
    const decoder = new TextDecoder();
    const splitter = new LineSplitter();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (signal.aborted) return;
        if (done) return this.receive(splitter.flush());
        this.retryMs = MIN_RETRY_MS;
        this.receive(splitter.push(decoder.decode(value, { stream: true })));
      }
    } finally {
      if (signal.aborted) void reader.cancel().catch(() => undefined);
    }
  }

  private receive(lines: readonly string[]): void {
    for (const line of lines) {
      const timed = timedLine(line);
      if (this.position.accept(timed)) this.arrived.push({ time: timed.time, text: plainLine(timed.text) });
    }
    if (this.arrived.length > 2 * MAX_LINES) this.show();
    if (this.arrived.length > 0) this.showTimer ??= setTimeout(() => this.show(), SHOW_INTERVAL_MS);
  }

  private show(): void {
    clearTimeout(this.showTimer);
    this.showTimer = undefined;
    if (this.arrived.length === 0) return;
    const all = [...this.state.lines, ...this.arrived];
    this.arrived = [];
    const lines = all.slice(-MAX_LINES);
    this.change({ lines, dropped: this.state.dropped + all.length - lines.length });
  }

  private retryLater(change: Pick<LogState, 'phase' | 'error'>): void {
    this.change(change);
    this.retryTimer = setTimeout(() => void this.read(), this.retryMs);
    this.retryMs = Math.min(2 * this.retryMs, MAX_RETRY_MS);
  }

  private change(change: { readonly [K in keyof LogState]?: LogState[K] | undefined }): void {
    const { error, ...rest } = { ...this.state, ...change };
    this.state = { ...(rest as LogState), ...(error && { error }) };
    for (const listener of this.listeners) listener();
  }
}

/** Whether it may be readable again without the user: the service or the context does not answer, or it broke off. */
const isPassing = (error: Error): boolean =>
  !(error instanceof ApiError) || error.status === 0 || error.status === 503 || error.status === 504;
