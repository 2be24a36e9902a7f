import type { Duplex } from 'node:stream';
import { DomainError, messageOf, type Clock } from '@headgate/domain-contracts';
import { takeInput } from '../take-input.js';
import { CLOSE, closeReason, type Viewer } from '../viewer.js';
import type { CursorShape } from './cursor-shape.js';
import { Framebuffer } from './framebuffer.js';
import { keyEvent } from './messages.js';
import type { Rectangle } from './rectangle.js';
import type { SharedView } from './shared-view.js';
import { NotShareable, UpstreamSession, type UpstreamListener } from './upstream-session.js';
import { ViewerSession } from './viewer-session.js';

/** How long the screen is held after the last viewer left, in milliseconds: long enough for a page that is loaded anew. */
const LINGER = 5_000;
/** How long a screen may take to show its size, in milliseconds. */
const PATIENCE = 10_000;
/** Pauses before the screen is opened again after it broke under a running guest, in milliseconds. */
const RETRY_AFTER = [100, 300, 1000, 2000, 4000];
/** A screen that held so long, in milliseconds, has not been taken away by somebody who wants it, too. */
const STEADY = 10_000;

export interface SharedScreenOptions {
  readonly clock: Clock;
  open(): Promise<Duplex>;
  /** Whether the guest is there still: a screen that breaks under it is opened again, as in a live migration. */
  runs(): boolean;
  ended(): void;
}

/** One graphical console, held once and shown to all who look at it. */
export class SharedScreen implements SharedView, UpstreamListener {
  readonly screen = new Framebuffer();
  blank = true;
  cursor: CursorShape | undefined;
  private readonly sessions = new Map<Viewer, ViewerSession>();
  private upstream: UpstreamSession | undefined;
  private opening: Promise<void> | undefined;
  private openedAt = 0;
  private attempts = 0;
  private cancelLinger: (() => void) | undefined;
  private over = false;

  constructor(private readonly options: SharedScreenOptions) {}

  /** Opens the screen when nobody holds it yet. @throws NotShareable, DomainError what the backend says */
  ready(): Promise<void> {
    return (this.opening ??= this.open());
  }

  add(viewer: Viewer): void {
    this.cancelLinger?.();
    const session = new ViewerSession(viewer, this);
    this.sessions.set(viewer, session);
    viewer.onClose(() => this.remove(viewer));
  }

  /** Lets everybody go. */
  end(code: number, reason: string): void {
    if (this.over) return;
    this.over = true;
    this.cancelLinger?.();
    this.upstream?.close();
    for (const viewer of [...this.sessions.keys()]) viewer.close(code, closeReason(reason));
    this.options.ended();
  }

  get qemuKeys(): boolean {
    return this.upstream?.qemuKeys ?? false;
  }

  wanted(): void {
    this.upstream?.requestUpdate();
  }

  key(down: boolean, keysym: number, keycode?: number): Buffer {
    return this.upstream?.key(down, keysym, keycode) ?? keyEvent(down, keysym);
  }

  act(viewer: Viewer, messages: Buffer): void {
    if (this.upstream?.isOpen) takeInput(viewer, messages, this.upstream.stream);
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
    if (this.options.clock.now() - this.openedAt >= STEADY) this.attempts = 0;
    for (const session of this.sessions.values()) session.pump();
    if ([...this.sessions.values()].some((session) => session.waits)) this.wanted();
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
    if (!this.over) this.reopen();
  }

  private async open(): Promise<void> {
    const { clock, open } = this.options;
    const stream = await open();
    if (this.over) return void stream.destroy();
    const upstream = (this.upstream = new UpstreamSession(stream, this.screen, this));
    this.openedAt = clock.now();
    const cancel = clock.after(PATIENCE, () =>
      upstream.close(new DomainError('BACKEND_UNREACHABLE', 'The screen took too long to show anything.')),
    );
    await upstream.opened.finally(cancel);
  }

  private reopen(): void {
    const { clock, runs } = this.options;
    const wait = RETRY_AFTER[this.attempts++];
    if (wait === undefined || !runs()) return this.end(CLOSE.ended, 'The console has ended.');
    clock.after(wait, () => {
      if (this.over) return;
      this.opening = this.open();
      this.opening.catch((error: unknown) => {
        if (runs() && this.attempts < RETRY_AFTER.length && !(error instanceof NotShareable)) this.reopen();
        else this.end(CLOSE.failed, messageOf(error));
      });
    });
  }

  private remove(viewer: Viewer): void {
    this.sessions.delete(viewer);
    if (this.sessions.size > 0 || this.over) return;
    this.cancelLinger = this.options.clock.after(LINGER, () => this.end(CLOSE.ended, 'Nobody is looking.'));
  }
}
