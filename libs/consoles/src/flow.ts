import type { Clock, ConsoleStream } from '@headgate/domain-contracts';
import { CLOSE_CODES, type Viewer } from './viewer.js';

/** The output of a console. It can be paused, and may reuse the buffers that every viewer has received. */
export interface FlowSource extends Pick<ConsoleStream, 'recycle'> {
  pause(): unknown;
  resume(): unknown;
}

/** A viewer with more unsent bytes pauses the source. */
const MAX_BUFFERED_BYTES = 1_048_576;
/** How long a viewer may pause the source before it is closed. */
const STALL_TIMEOUT_MS = 10_000;

/**
 * Copies the output of a console to its viewers. It reads no faster than the slowest viewer receives, and closes a
 * viewer that receives nothing for too long, so that it does not hold up the others.
 */
export class Flow {
  private readonly viewers = new Set<Viewer>();
  /** Viewers that pause the source, with the function that cancels their timeout. */
  private readonly stalled = new Map<Viewer, () => void>();

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
    let pending = this.viewers.size;
    if (pending === 0) this.source.recycle?.(data);
    const onSent = (): void => {
      if (--pending === 0) this.source.recycle?.(data);
    };
    for (const viewer of this.viewers) this.sendTo(viewer, data, onSent);
  }

  private sendTo(viewer: Viewer, data: Buffer, onSent: () => void): void {
    viewer.send(data, () => {
      onSent();
      if (viewer.buffered <= MAX_BUFFERED_BYTES / 2) this.release(viewer);
    });
    if (viewer.buffered <= MAX_BUFFERED_BYTES || this.stalled.has(viewer)) return;
    this.stalled.set(
      viewer,
      this.clock.after(STALL_TIMEOUT_MS, () =>
        viewer.close(CLOSE_CODES.stalled, 'The connection is too slow for this console.'),
      ),
    );
    this.source.pause();
  }

  private release(viewer: Viewer): void {
    const cancelTimeout = this.stalled.get(viewer);
    if (!cancelTimeout) return;
    cancelTimeout();
    this.stalled.delete(viewer);
    if (this.stalled.size === 0) this.source.resume();
  }
}
