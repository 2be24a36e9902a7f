import type { Readable, Writable } from 'node:stream';
import type { Clock } from '@headgate/domain-contracts';

/** A client that reads nothing for this long is disconnected. */
const STALL_TIMEOUT_MS = 60_000;

export interface LogPumpOptions {
  readonly source: Readable;
  readonly out: Pick<Writable, 'write' | 'end' | 'destroy' | 'once'>;
  readonly clock: Clock;
  /** The response ends with a note after so many bytes of the log. */
  readonly maxBytes: number;
}

/**
 * Sends a log while its client reads. A log that breaks off breaks the response off as well, so that it never looks
 * complete.
 */
export class LogPump {
  private sentBytes = 0;
  private lastByte = NEWLINE;
  private cancelStall: (() => void) | undefined;

  constructor(private readonly options: LogPumpOptions) {}

  start(): void {
    const { source, out } = this.options;
    source.on('data', (chunk: Buffer | string) => this.send(Buffer.from(chunk)));
    source.once('end', () => out.end());
    source.once('error', () => out.destroy());
    out.once('close', () => {
      this.cancelStall?.();
      source.destroy();
    });
    // The engine may have closed the log before this began to read it.
    if (source.destroyed && !source.readableEnded) out.destroy();
  }

  private send(chunk: Buffer): void {
    const { source, out, maxBytes } = this.options;
    const bytes = chunk.subarray(0, maxBytes - this.sentBytes);
    this.sentBytes += bytes.length;
    this.lastByte = bytes.at(-1) ?? this.lastByte;
    const isFull = !out.write(bytes);
    if (this.sentBytes >= maxBytes) {
      source.removeAllListeners('data');
      source.destroy();
      return void out.end(`${this.lastByte === NEWLINE ? '' : '\n'}${cutNote(maxBytes)}\n`);
    }
    if (isFull) this.waitForReader();
  }

  private waitForReader(): void {
    const { source, out, clock } = this.options;
    if (this.cancelStall) return;
    source.pause();
    this.cancelStall = clock.after(STALL_TIMEOUT_MS, () => out.destroy());
    out.once('drain', () => {
      this.cancelStall?.();
      this.cancelStall = undefined;
      source.resume();
    });
  }
}

const NEWLINE = 0x0a;

const cutNote = (maxBytes: number): string =>
  `[The log is cut here after ${maxBytes / 1024 ** 2} MiB: ask for fewer lines, or for those since a time.]`;
