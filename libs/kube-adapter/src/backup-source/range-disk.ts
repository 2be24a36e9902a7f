import type { Readable } from 'node:stream';
import { DomainError, messageOf, type Clock } from '@headgate/domain-contracts';

/** The bytes of an image from an offset to its end. */
export interface OpenedRange {
  readonly stream: Readable;
  /** The size of the whole image. */
  readonly imageBytes: number;
}

export interface RangeDiskOptions {
  readonly clock: Clock;
  /** In errors. */
  readonly name: string;
  /** As the guest sees it. The image may be shorter: its end is zeros then. */
  readonly sizeBytes: number;
  readonly imageBytes: number;
  readonly signal: AbortSignal;
  open(offset: number): Promise<OpenedRange>;
}

/** A gap of this size is read and dropped, because a new connection takes longer. */
const LARGEST_SKIP_BYTES = 4 * 1024 ** 2;
/** A connection without any byte for this time is replaced. */
const STALL_MS = 60_000;
/** Attempts without any byte in between, about four minutes with the pauses: an exporter's pod may be moved. */
const MAX_ATTEMPTS = 9;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Another attempt meets the same. */
const FINAL = ['NOT_SUPPORTED', 'SNAPSHOT_NOT_FOUND', 'BACKEND_FORBIDDEN', 'CONFLICT'] as const;

/**
 * Reads an image over a connection that goes forward. Reads in the order of the disk share one connection, in whatever
 * number they wait; a read elsewhere opens a new one there. When a connection breaks, it goes on at the same byte.
 */
export class RangeDisk {
  private position = 0;
  private opened?: { readonly stream: Readable; readonly chunks: AsyncIterator<Buffer> };
  private rest: Buffer = Buffer.alloc(0);
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: RangeDiskOptions) {}

  /** @throws DomainError BACKEND_FAILED, BACKEND_UNREACHABLE, SNAPSHOT_NOT_FOUND */
  read(offset: number, length: number): Promise<Buffer> {
    const reading = this.last.then(() => this.readNext(offset, length));
    this.last = reading.catch(() => undefined);
    return reading;
  }

  close(): void {
    this.drop();
  }

  private async readNext(offset: number, length: number): Promise<Buffer> {
    const { imageBytes, sizeBytes, name } = this.options;
    if (offset < 0 || length < 0 || offset + length > sizeBytes)
      throw new DomainError('BACKEND_FAILED', `${name} has ${sizeBytes} bytes, and none at ${offset + length}.`);
    const bytes = Buffer.alloc(length);
    const wanted = Math.max(0, Math.min(length, imageBytes - offset));
    await this.fill(bytes.subarray(0, wanted), offset);
    return bytes;
  }

  private async fill(bytes: Buffer, offset: number): Promise<void> {
    const { clock, signal, name } = this.options;
    let filled = 0;
    let attempts = 0;
    while (filled < bytes.length) {
      signal.throwIfAborted();
      try {
        await this.moveTo(offset + filled);
        const got = await this.next(bytes.length - filled);
        got.copy(bytes, filled);
        filled += got.length;
        attempts = 0;
      } catch (error) {
        this.drop();
        signal.throwIfAborted();
        if (DomainError.is(error, ...FINAL)) throw error;
        if (++attempts >= MAX_ATTEMPTS)
          throw new DomainError(
            DomainError.is(error) ? error.code : 'BACKEND_FAILED',
            `${name} can't be read any further at ${offset + filled}: ${messageOf(error).replace(/\.$/, '')}.`,
            { cause: error },
          );
        await clock.delay(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1)), signal);
      }
    }
  }

  private async moveTo(offset: number): Promise<void> {
    const gap = offset - this.position;
    if (this.opened && gap >= 0 && gap <= LARGEST_SKIP_BYTES) {
      while (this.position < offset) await this.next(offset - this.position);
      return;
    }
    this.drop();
    const { stream, imageBytes } = await this.options.open(offset);
    if (imageBytes !== this.options.imageBytes) {
      stream.destroy();
      throw new DomainError('CONFLICT', `${this.options.name} has another size than before: repeat the backup.`);
    }
    this.opened = { stream, chunks: stream[Symbol.asyncIterator]() as AsyncIterator<Buffer> };
    this.position = offset;
  }

  /** At most this many bytes, and at least one. */
  private async next(most: number): Promise<Buffer> {
    if (this.rest.length === 0) this.rest = await this.chunk();
    const part = this.rest.subarray(0, most);
    this.rest = this.rest.subarray(part.length);
    this.position += part.length;
    return part;
  }

  private async chunk(): Promise<Buffer> {
    const { clock } = this.options;
    const { opened } = this;
    if (!opened) throw new Error('The connection is closed.');
    const cancel = clock.after(STALL_MS, () =>
      opened.stream.destroy(new Error(`the exporter has sent nothing for ${STALL_MS / 1000} s`)),
    );
    try {
      for (;;) {
        const { value, done } = await opened.chunks.next();
        if (done === true) throw new Error('the connection has ended early');
        if ((value as Buffer).length > 0) return value as Buffer;
      }
    } finally {
      cancel();
    }
  }

  private drop(): void {
    // Without a listener, an error of the connection would end the process.
    this.opened?.stream.on('error', () => undefined).destroy();
    this.opened = undefined;
    this.rest = Buffer.alloc(0);
  }
}
