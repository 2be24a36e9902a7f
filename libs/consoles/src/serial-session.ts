import { messageOf, type Clock, type ConsoleStream, type SerialLine } from '@headgate/domain-contracts';
import { ByteRing } from './byte-ring.js';
import { Flow } from './flow.js';
import { takeInput } from './take-input.js';
import { CLOSE, closeReason, type Viewer } from './viewer.js';

/** How much of what scrolled by is kept for the next viewer, in bytes. */
const RING = 262_144;
/** How long the line is held after the last viewer left, in milliseconds. */
const LINGER = 30_000;
/** Pauses before the line is opened again after it broke under a running guest, in milliseconds. */
const RETRY_AFTER = [100, 300, 1000, 2000, 4000];

export interface SerialSessionOptions {
  readonly clock: Clock;
  open(): Promise<SerialLine>;
  /** Whether the guest is there still: a line that breaks under it is opened again, as in a live migration. */
  runs(): boolean;
  ended(): void;
}

/** One serial line, held once and copied to all who look at it; who comes later sees what scrolled by. */
export class SerialSession {
  private readonly ring = new ByteRing(RING);
  private readonly viewers = new Set<Viewer>();
  private readonly flow: Flow;
  private line: ConsoleStream | undefined;
  private opening: Promise<void> | undefined;
  private attempts = 0;
  private cancelLinger: (() => void) | undefined;
  private over = false;

  constructor(private readonly options: SerialSessionOptions) {
    this.flow = new Flow(options.clock, {
      pause: () => this.line?.pause(),
      resume: () => this.line?.resume(),
      // A line that was opened anew does not take the buffers of the one before it.
      recycle: (data) => this.line?.recycle?.(data),
    });
  }

  /** Opens the line when nobody holds it yet. @throws DomainError what the backend says */
  ready(): Promise<void> {
    return (this.opening ??= this.open());
  }

  add(viewer: Viewer): void {
    this.cancelLinger?.();
    this.viewers.add(viewer);
    const before = this.ring.bytes();
    if (before.length > 0) viewer.send(before, () => undefined);
    this.flow.add(viewer);
    viewer.onInput((data) => {
      if (!viewer.viewOnly && this.line) takeInput(viewer, data, this.line);
    });
    viewer.onClose(() => this.remove(viewer));
  }

  /** Lets everybody go. */
  end(code: number, reason: string): void {
    if (this.over) return;
    this.over = true;
    this.cancelLinger?.();
    this.line?.destroy();
    for (const viewer of this.viewers) viewer.close(code, closeReason(reason));
    this.options.ended();
  }

  private async open(): Promise<void> {
    const { stream, backlog } = await this.options.open();
    if (this.over) return void stream.destroy();
    if (this.attempts === 0 && backlog.length > 0) this.print(backlog);
    this.line = stream;
    stream.on('data', (data: Buffer) => {
      this.attempts = 0;
      this.print(data);
    });
    stream.on('error', () => undefined);
    stream.once('close', () => this.broke());
    stream.once('end', () => stream.destroy());
  }

  private print(data: Buffer): void {
    this.ring.append(data);
    this.flow.send(data);
  }

  private broke(): void {
    this.line = undefined;
    if (this.over) return;
    const wait = RETRY_AFTER[this.attempts++];
    if (wait === undefined || !this.options.runs()) return this.end(CLOSE.ended, 'The console has ended.');
    this.options.clock.after(wait, () => {
      if (this.over) return;
      this.opening = this.open();
      this.opening.catch((error: unknown) => {
        if (this.options.runs() && this.attempts < RETRY_AFTER.length) this.broke();
        else this.end(CLOSE.failed, messageOf(error));
      });
    });
  }

  private remove(viewer: Viewer): void {
    this.viewers.delete(viewer);
    this.flow.remove(viewer);
    if (this.viewers.size > 0 || this.over) return;
    this.cancelLinger = this.options.clock.after(LINGER, () => this.end(CLOSE.ended, 'Nobody is looking.'));
  }
}
