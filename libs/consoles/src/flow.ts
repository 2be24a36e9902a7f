import type { Clock, ConsoleStream } from '@headgate/domain-contracts';
import { CLOSE, type Viewer } from './viewer.js';

/** What a console prints: it can be held back, and may have a use for the buffers that nobody needs any more. */
export interface FlowSource extends Pick<ConsoleStream, 'recycle'> {
  pause(): unknown;
  resume(): unknown;
}

/** A viewer with more than this in flight holds the stream back, in bytes. */
const HIGH = 1_048_576;
/** How long a viewer may hold the stream back before he is let go, in milliseconds. */
const PATIENCE = 10_000;

/**
 * Copies what a console prints to its viewers. It reads no faster than the slowest viewer takes, and lets go of one that
 * takes nothing for too long, so that he does not hold up the others.
 */
export class Flow {
  private readonly viewers = new Set<Viewer>();
  private readonly slow = new Map<Viewer, () => void>();

  constructor(
    private readonly clock: Clock,
    private readonly source: FlowSource,
  ) {}

  add(viewer: Viewer): void {
    this.viewers.add(viewer);
  }

  remove(viewer: Viewer): void {
    this.viewers.delete(viewer);
    this.release(viewer);
  }

  send(data: Buffer): void {
    let holders = this.viewers.size;
    const left = (): void => {
      if (--holders === 0) this.source.recycle?.(data);
    };
    if (holders === 0) this.source.recycle?.(data);
    for (const viewer of this.viewers) this.sendTo(viewer, data, left);
  }

  private sendTo(viewer: Viewer, data: Buffer, left: () => void): void {
    viewer.send(data, () => {
      left();
      if (viewer.buffered <= HIGH / 2) this.release(viewer);
    });
    if (viewer.buffered <= HIGH || this.slow.has(viewer)) return;
    this.slow.set(
      viewer,
      this.clock.after(PATIENCE, () => viewer.close(CLOSE.stalled, 'The connection is too slow for this console.')),
    );
    this.source.pause();
  }

  private release(viewer: Viewer): void {
    const cancel = this.slow.get(viewer);
    if (!cancel) return;
    cancel();
    this.slow.delete(viewer);
    if (this.slow.size === 0) this.source.resume();
  }
}
