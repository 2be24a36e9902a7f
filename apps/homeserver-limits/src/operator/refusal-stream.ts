import type { ServerResponse } from 'node:http';
import type { RefusalLog } from '../reports/refusal-log.js';

/** Streams at a time. */
const MAX_STREAMS = 16;
const INTERVAL_MS = 250;
/** Refusals per interval and stream; the others are only counted. */
const MAX_ENTRIES = 50;
/** A reader with more waiting is too slow. */
const MAX_WAITING_BYTES = 256 * 1024;
/** So that proxies keep the connection, and a reader that is gone is noticed. */
const HEARTBEAT_MS = 15_000;

interface Reader {
  readonly response: ServerResponse;
  position: number;
  sentMs: number;
}

/**
 * The refusals as server-sent events. It reads the log in intervals, and only while there are readers, so that a flood
 * of refusals costs each reader the same and the decisions nothing.
 */
export class RefusalStream {
  private readonly readers = new Set<Reader>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly refusals: Pick<RefusalLog, 'since' | 'position'>,
    private readonly now: () => number = Date.now,
  ) {}

  get isFull(): boolean {
    return this.readers.size >= MAX_STREAMS;
  }

  get count(): number {
    return this.readers.size;
  }

  /** Sends the latest refusals, and each further one until the reader is gone or too slow. */
  add(response: ServerResponse): void {
    const reader: Reader = { response, position: this.refusals.position - MAX_ENTRIES, sentMs: this.now() };
    reader.position = Math.max(0, reader.position);
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
    });
    response.write(': refusals\n\n');
    this.readers.add(reader);
    response.once('close', () => this.remove(reader));
    this.send(reader);
    this.timer ??= setInterval(() => this.sendAll(), INTERVAL_MS).unref();
  }

  /** Ends every stream. */
  close(): void {
    for (const { response } of this.readers) response.destroy();
  }

  /** Sends the new refusals to each reader. */
  sendAll(): void {
    for (const reader of this.readers) this.send(reader);
  }

  private send(reader: Reader): void {
    const { response } = reader;
    if (response.writableLength > MAX_WAITING_BYTES) {
      response.destroy();
      this.remove(reader);
      return;
    }
    const { entries, skipped, position } = this.refusals.since(reader.position, MAX_ENTRIES);
    reader.position = position;
    const nowMs = this.now();
    if (entries.length > 0) response.write(`data: ${JSON.stringify({ refusals: entries, skipped })}\n\n`);
    else if (nowMs - reader.sentMs >= HEARTBEAT_MS) response.write(':\n\n');
    else return;
    reader.sentMs = nowMs;
  }

  private remove(reader: Reader): void {
    this.readers.delete(reader);
    if (this.readers.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
