import type { Writable } from 'node:stream';
import type { Clock } from '@headgate/domain-contracts';
import type { FeedView } from '@headgate/fleet';

/** A client that reads nothing for this long is disconnected; a browser reconnects. */
const STALL_TIMEOUT_MS = 60_000;

export interface EventStreamDeps {
  /**
   * Where the bytes of the body go as they are: the socket, because a response spends more time on a write than the
   * kernel.
   */
  readonly out: Pick<Writable, 'write' | 'writableNeedDrain' | 'cork' | 'uncork' | 'once' | 'end' | 'destroy'>;
  readonly feed: Pick<FeedView<unknown>, 'position' | 'since' | 'subscribe'>;
  readonly clock: Clock;
  /** The snapshot as an event whose ID is the given position. */
  readonly snapshot: (position: number) => readonly Buffer[] | Promise<readonly Buffer[]>;
  /** Encodes the bytes of a batch, the same for all clients of an encoding. */
  readonly encode?: ((bytes: Buffer) => Buffer) | undefined;
  /** Written while nothing else is, instead of a comment. */
  readonly beat?: Buffer;
  /** Where the client wants to continue; undefined for a new client. */
  readonly resumeFrom: number | undefined;
}

/**
 * One client of an event stream. It writes only while the client reads; a slow client gets the latest states when it
 * reads again, so that it never costs more memory than one batch.
 */
export class EventStream {
  private position = 0;
  private cancelStall: (() => void) | undefined;
  private isPreparing = false;
  private isStopped = false;
  private unsubscribe: (() => void) | undefined;

  constructor(private readonly deps: EventStreamDeps) {}

  /** Writes the first events and follows the feed. */
  start(first: readonly Buffer[]): void {
    const { feed, resumeFrom } = this.deps;
    this.unsubscribe = feed.subscribe(() => this.send());
    this.writeAll(first);
    if (resumeFrom !== undefined && feed.since(resumeFrom) !== 'expired') {
      this.position = resumeFrom;
      this.send();
    } else {
      this.sendSnapshot();
    }
  }

  /** Writes the heartbeat, unless the client has not read the earlier bytes yet. */
  beat(): void {
    if (!this.cancelStall && !this.isPreparing) this.write(this.deps.beat ?? COMMENT);
  }

  /** Ends the response after the bytes that were written. */
  end(): void {
    this.stop();
    this.deps.out.end();
  }

  stop(): void {
    this.isStopped = true;
    this.unsubscribe?.();
    this.cancelStall?.();
  }

  private readonly send = (): void => {
    while (!this.cancelStall && !this.isPreparing) {
      const batch = this.deps.feed.since(this.position);
      if (batch === undefined) return;
      if (batch === 'expired') return this.sendSnapshot();
      this.position = batch.position;
      if (batch.bytes.length > 0) this.write(batch.bytes);
    }
  };

  private sendSnapshot(): void {
    this.position = this.deps.feed.position;
    const snapshot = this.deps.snapshot(this.position);
    if (!(snapshot instanceof Promise)) return this.writeAll(snapshot);
    // Changes since its position must follow the snapshot.
    this.isPreparing = true;
    void snapshot.then(
      (chunks) => {
        this.isPreparing = false;
        if (this.isStopped) return;
        this.writeAll(chunks);
        this.send();
      },
      () => this.deps.out.destroy(),
    );
  }

  private writeAll(chunks: readonly Buffer[]): void {
    const { out } = this.deps;
    out.cork();
    for (const chunk of chunks) out.write(chunk);
    out.uncork();
    this.waitForReader();
  }

  private write(bytes: Buffer): void {
    const { out, encode } = this.deps;
    if (!out.write(encode ? encode(bytes) : bytes)) this.waitForReader();
  }

  /** Stops writing while the client has not read the earlier bytes. */
  private waitForReader(): void {
    const { out, clock } = this.deps;
    if (!out.writableNeedDrain || this.cancelStall) return;
    this.cancelStall = clock.after(STALL_TIMEOUT_MS, () => out.destroy());
    out.once('drain', () => {
      this.cancelStall?.();
      this.cancelStall = undefined;
      this.send();
    });
  }
}

const COMMENT = Buffer.from(':\n\n');
