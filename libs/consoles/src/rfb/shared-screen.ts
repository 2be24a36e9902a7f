import type { Duplex } from 'node:stream';
import { DomainError, messageOf, type Clock } from '@headgate/domain-contracts';
import { forwardInput } from '../forward-input.js';
import type { GuestState } from '../guest-state.js';
import { Reconnection } from '../reconnection.js';
import { CLOSE_CODES, closeReason, type Viewer } from '../viewer.js';
import type { CursorShape } from './cursor-shape.js';
import { Framebuffer } from './framebuffer.js';
import { keyEvent } from './messages.js';
import type { Rectangle } from './rectangle.js';
import type { SharedView } from './shared-view.js';
import { NotShareableError, UpstreamSession, type UpstreamListener } from './upstream-session.js';
import { ViewerSession } from './viewer-session.js';

/** How long the screen stays open after the last viewer left: long enough to reload a page. */
const LINGER_MS = 5_000;
/** How long a screen may take until the handshake is complete. */
const OPEN_TIMEOUT_MS = 10_000;
/** How long a frame waits for a change that the guest may have drawn already. */
const FRAME_WAIT_MS = 500;
/** How long a frame waits for a screen that was opened, but not drawn yet. */
const FIRST_FRAME_WAIT_MS = 5_000;
/** A screen that was open this long was not taken over by another program that wants it as well. */
const STEADY_MS = 10_000;

export interface SharedScreenDeps {
  readonly clock: Clock;
  readonly guest: GuestState;
  open(): Promise<Duplex>;
  onEnd(): void;
}

/** One graphical console, opened once and shown to all of its viewers. It stays open while its guest restarts. */
export class SharedScreen implements SharedView, UpstreamListener {
  readonly screen = new Framebuffer();
  blank = true;
  cursor: CursorShape | undefined;
  private readonly sessions = new Map<Viewer, ViewerSession>();
  private readonly reconnection: Reconnection;
  private upstream: UpstreamSession | undefined;
  private opening: Promise<void> | undefined;
  private openedAtMs = 0;
  private cancelLinger: (() => void) | undefined;
  private isOver = false;
  /** Those that wait for the next update of a screen that has been drawn. */
  private readonly waitingForUpdate = new Set<() => void>();

  constructor(private readonly deps: SharedScreenDeps) {
    this.reconnection = new Reconnection(deps.clock, deps.guest);
  }

  /**
   * Opens the screen for the first time. A viewer that joins later, while a screen that broke is opened again, waits
   * for it with the others.
   * @throws NotShareableError, DomainError the backend's error
   */
  ready(): Promise<void> {
    return (this.opening ??= this.open());
  }

  add(viewer: Viewer): void {
    this.cancelLinger?.();
    const session = new ViewerSession(viewer, this);
    this.sessions.set(viewer, session);
    viewer.onClose(() => this.remove(viewer));
  }

  /**
   * The screen as its viewers see it, also when none of them asks for changes at the moment. It opens nothing.
   * @throws DomainError BUSY while it is opened again, or when nothing is drawn in time
   */
  async frame(): Promise<Framebuffer> {
    this.requestUpdate();
    await new Promise<void>((resolve) => {
      const done = (): void => {
        cancel();
        this.waitingForUpdate.delete(done);
        resolve();
      };
      const cancel = this.deps.clock.after(this.blank ? FIRST_FRAME_WAIT_MS : FRAME_WAIT_MS, done);
      this.waitingForUpdate.add(done);
    });
    if (!this.upstream?.isOpen || this.blank) throw new DomainError('BUSY', 'The screen is being opened.');
    return this.screen;
  }

  /** Closes all viewers. */
  end(code: number, reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.cancelLinger?.();
    this.upstream?.close();
    for (const done of [...this.waitingForUpdate]) done();
    for (const viewer of [...this.sessions.keys()]) viewer.close(code, closeReason(reason));
    this.deps.onEnd();
  }

  get qemuKeys(): boolean {
    return this.upstream?.qemuKeys ?? false;
  }

  requestUpdate(): void {
    this.upstream?.requestUpdate();
  }

  keyMessage(down: boolean, keysym: number, keycode?: number): Buffer {
    return this.upstream?.keyMessage(down, keysym, keycode) ?? keyEvent(down, keysym);
  }

  sendInput(viewer: Viewer, messages: Buffer): void {
    if (this.upstream?.isOpen) forwardInput(viewer, messages, this.upstream.stream);
  }

  resized(): void {
    this.blank = true;
    for (const session of this.sessions.values()) session.renew();
  }

  damaged(area: Rectangle): void {
    this.blank = false;
    for (const session of this.sessions.values()) session.damaged(area);
  }

  updated(): void {
    if (this.deps.clock.now() - this.openedAtMs >= STEADY_MS) this.reconnection.succeeded();
    // An update can consist of a new size or a cursor alone.
    if (!this.blank) for (const done of [...this.waitingForUpdate]) done();
    for (const session of this.sessions.values()) session.pump();
    const isAwaited = this.waitingForUpdate.size > 0 || [...this.sessions.values()].some(({ isWaiting }) => isWaiting);
    if (isAwaited) this.requestUpdate();
  }

  showCursor(shape: CursorShape): void {
    this.cursor = shape;
  }

  bell(): void {
    for (const session of this.sessions.values()) session.bell();
  }

  showClipboard(text: Buffer): void {
    for (const session of this.sessions.values()) session.showClipboard(text);
  }

  closed(): void {
    if (!this.isOver) void this.reopen();
  }

  private async open(): Promise<void> {
    const { clock, open } = this.deps;
    const stream = await open();
    if (this.isOver) return void stream.destroy();
    const upstream = (this.upstream = new UpstreamSession(stream, this.screen, this));
    this.openedAtMs = clock.now();
    const cancelTimeout = clock.after(OPEN_TIMEOUT_MS, () =>
      upstream.close(new DomainError('BACKEND_UNREACHABLE', 'The screen did not answer in time.')),
    );
    await upstream.opened.finally(cancelTimeout);
  }

  /** @param error of the last attempt to open the screen again */
  private async reopen(error?: unknown): Promise<void> {
    if (await this.reconnection.wait()) {
      if (this.isOver) return;
      this.open().catch((failure: unknown) => {
        if (failure instanceof NotShareableError) this.end(CLOSE_CODES.failed, messageOf(failure));
        else void this.reopen(failure);
      });
    } else if (error !== undefined && this.deps.guest.isRunning()) this.end(CLOSE_CODES.failed, messageOf(error));
    else this.end(CLOSE_CODES.ended, 'The console has ended.');
  }

  private remove(viewer: Viewer): void {
    this.sessions.delete(viewer);
    if (this.sessions.size > 0 || this.isOver) return;
    this.cancelLinger = this.deps.clock.after(LINGER_MS, () => this.end(CLOSE_CODES.ended, 'There are no viewers.'));
  }
}
