import { messageOf, type Clock, type ConsoleStream, type SerialLine } from '@headgate/domain-contracts';
import { ByteRing } from './byte-ring.js';
import { Flow } from './flow.js';
import { forwardInput } from './forward-input.js';
import type { GuestState } from './guest-state.js';
import { Reconnection } from './reconnection.js';
import { withoutQueries } from './terminal-queries.js';
import { CLOSE_CODES, closeReason, type Viewer } from './viewer.js';

/** How much earlier output a new viewer sees. */
const HISTORY_BYTES = 262_144;
/** How long the line stays open after the last viewer left. */
const LINGER_MS = 30_000;

export interface SerialSessionDeps {
  readonly clock: Clock;
  readonly guest: GuestState;
  open(): Promise<SerialLine>;
  onEnd(): void;
}

/** One serial line, opened once and copied to all of its viewers. A new viewer also receives the latest output. */
export class SerialSession {
  private readonly history = new ByteRing(HISTORY_BYTES);
  private readonly viewers = new Set<Viewer>();
  private readonly flow: Flow;
  private readonly reconnection: Reconnection;
  private line: ConsoleStream | undefined;
  private opening: Promise<void> | undefined;
  private hasOpened = false;
  private cancelLinger: (() => void) | undefined;
  private isOver = false;

  constructor(private readonly deps: SerialSessionDeps) {
    this.reconnection = new Reconnection(deps.clock, deps.guest);
    this.flow = new Flow(deps.clock, {
      pause: () => this.line?.pause(),
      resume: () => this.line?.resume(),
      // A line that was reopened does not accept buffers of the previous one.
      recycle: (data) => this.line?.recycle?.(data),
    });
  }

  /**
   * Opens the line for the first time. A viewer that joins later, while a line that broke is opened again, waits for it
   * with the others.
   * @throws DomainError the backend's error
   */
  ready(): Promise<void> {
    return (this.opening ??= this.open());
  }

  add(viewer: Viewer): void {
    this.cancelLinger?.();
    this.viewers.add(viewer);
    const earlier = withoutQueries(this.history.bytes());
    if (earlier.length > 0) viewer.send(earlier, () => undefined);
    this.flow.add(viewer);
    viewer.onInput((data) => {
      if (!viewer.viewOnly && this.line) forwardInput(viewer, data, this.line);
    });
    viewer.onClose(() => this.remove(viewer));
  }

  /** Closes all viewers. */
  end(code: number, reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.cancelLinger?.();
    this.line?.destroy();
    for (const viewer of this.viewers) viewer.close(code, closeReason(reason));
    this.deps.onEnd();
  }

  private async open(): Promise<void> {
    const { stream, backlog } = await this.deps.open();
    if (this.isOver) return void stream.destroy();
    if (!this.hasOpened && backlog.length > 0) this.print(backlog);
    this.hasOpened = true;
    this.line = stream;
    stream.on('data', (data: Buffer) => {
      this.reconnection.succeeded();
      this.print(data);
    });
    stream.on('error', () => undefined);
    stream.once('end', () => stream.destroy());
    // The line may have closed while it was opened.
    if (stream.closed) return this.lost();
    stream.once('close', () => this.lost());
  }

  private lost(): void {
    this.line = undefined;
    if (!this.isOver) void this.reopen();
  }

  private print(data: Buffer): void {
    this.history.append(data);
    this.flow.send(data);
  }

  /** @param error of the last attempt to open the line again */
  private async reopen(error?: unknown): Promise<void> {
    if (await this.reconnection.wait()) {
      if (this.isOver) return;
      this.open().catch((failure: unknown) => this.reopen(failure));
    } else if (error !== undefined && this.deps.guest.isRunning()) this.end(CLOSE_CODES.failed, messageOf(error));
    else this.end(CLOSE_CODES.ended, 'The console has ended.');
  }

  private remove(viewer: Viewer): void {
    this.viewers.delete(viewer);
    this.flow.remove(viewer);
    if (this.viewers.size > 0 || this.isOver) return;
    this.cancelLinger = this.deps.clock.after(LINGER_MS, () => this.end(CLOSE_CODES.ended, 'There are no viewers.'));
  }
}
