import { Readable } from 'node:stream';
import type { DomainError, Clock } from '@headgate/domain-contracts';
import type { WebSocket } from 'ws';
import { ExecChannels } from '../consoles/exec-channels.js';
import type { ExecOutcome } from '../consoles/exec-status.js';

/** Errors of programs are one line or two. The rest is not kept. */
const MAX_ERROR_BYTES = 8192;

/** How a program has ended. */
export interface ProgramEnd extends ExecOutcome {
  /** Its errors, cut after some kilobytes. */
  readonly errors: string;
}

export interface ProgramOptions {
  readonly clock: Clock;
  /** A program that is read, and prints nothing for so long, is left. */
  readonly idleMs: number;
  readonly onIdle: () => DomainError;
  /** The error of a program that has ended; undefined if its output is complete. */
  readonly errorOf: (end: ProgramEnd) => DomainError | undefined;
  readonly signal: AbortSignal;
}

/**
 * The output of a program in a pod. It flows as fast as it is read, ends only if the program has reported success, and
 * is destroyed with an error otherwise.
 */
export class ProgramOutput extends Readable {
  /** Resolves at the first byte, or at the end of an empty output; rejects if the program has failed before. */
  readonly begun: Promise<void>;
  private begin: () => void = () => undefined;
  private readonly channels: ExecChannels;
  private readonly parts: AsyncIterator<Buffer>;
  private readonly errors: Buffer[] = [];
  private errorBytes = 0;

  constructor(
    socket: WebSocket,
    private readonly options: ProgramOptions,
  ) {
    super();
    const { signal } = options;
    this.channels = new ExecChannels(socket, { subject: 'program', onErrors: (bytes) => this.keep(bytes) });
    // The error is read from its conclusion.
    this.channels.on('error', () => undefined);
    this.parts = this.channels[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.begun = new Promise((resolve, reject) => {
      this.begin = resolve;
      this.once('error', reject);
      this.once('close', () => reject(new Error('The output was closed.')));
    });
    this.begun.catch(() => undefined);
    const leave = (): void => void this.destroy(signal.reason as Error);
    this.once('close', () => signal.removeEventListener('abort', leave));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    this.read(0);
  }

  override _read(): void {
    this.step().catch((error: unknown) => this.destroy(error as Error));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // Ends the connection also while the program prints nothing.
    this.channels.destroy();
    done(error);
  }

  private async step(): Promise<void> {
    const { clock, idleMs, onIdle } = this.options;
    const cancel = clock.after(idleMs, () => this.destroy(onIdle()));
    const part = await this.parts
      .next()
      .finally(cancel)
      .catch(() => END);
    if (this.destroyed) return;
    const error = part.done ? this.options.errorOf(this.end()) : undefined;
    if (error) return void this.destroy(error);
    this.begin();
    this.push(part.done ? null : part.value);
  }

  private end(): ProgramEnd {
    return { ...this.channels.conclusion, errors: Buffer.concat(this.errors).toString() };
  }

  private keep(bytes: Buffer): void {
    if (this.errorBytes >= MAX_ERROR_BYTES) return;
    const kept = bytes.subarray(0, MAX_ERROR_BYTES - this.errorBytes);
    this.errors.push(kept);
    this.errorBytes += kept.length;
  }
}

const END = { done: true, value: undefined } as const;
