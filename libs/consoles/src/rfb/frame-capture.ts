import type { Duplex } from 'node:stream';
import { DomainError, type Clock } from '@headgate/domain-contracts';
import { Framebuffer } from './framebuffer.js';
import type { Rectangle } from './rectangle.js';
import { UpstreamSession, type UpstreamListener } from './upstream-session.js';

/** How long one look at a screen may take, from the request for its stream. */
const TIMEOUT_MS = 5_000;

export interface FrameCaptureDeps {
  readonly clock: Clock;
  open(): Promise<Duplex>;
}

/** One look at a screen over a session of its own, which sends no input and ends with the first whole frame. */
export class FrameCapture implements UpstreamListener {
  /** Rejected with the backend's error, NotShareableError, BACKEND_TIMEOUT, or BUSY when a viewer took its place. */
  readonly frame: Promise<Framebuffer>;
  /** Resolves when the backend no longer opens a stream for it. */
  readonly ended: Promise<void>;
  private readonly screen = new Framebuffer();
  private session: UpstreamSession | undefined;
  private missingPixels = 0;
  private isOver = false;
  private resolve!: () => void;
  private reject!: (reason: unknown) => void;

  constructor(private readonly deps: FrameCaptureDeps) {
    const drawn = new Promise<void>((resolve, reject) => Object.assign(this, { resolve, reject }));
    const cancelTimeout = deps.clock.after(TIMEOUT_MS, () =>
      this.fail(new DomainError('BACKEND_TIMEOUT', 'The screen showed nothing in time.')),
    );
    this.ended = this.open();
    this.frame = drawn.then(() => this.screen).finally(cancelTimeout);
    this.frame.catch(() => undefined);
  }

  /** Ends the session, because a viewer needs the screen. */
  cancel(): void {
    this.fail(new DomainError('BUSY', 'A viewer has just opened this screen.'));
  }

  resized(): void {
    this.missingPixels = this.screen.width * this.screen.height;
  }

  /** Servers don't draw a part twice in the answer to the first request. */
  damaged({ width, height }: Rectangle): void {
    this.missingPixels -= width * height;
  }

  updated(): void {
    if (this.isOver) return;
    if (this.screen.width * this.screen.height === 0) return this.fail(emptyScreen());
    if (this.missingPixels > 0) return this.session?.requestUpdate();
    this.isOver = true;
    this.session?.close();
    this.resolve();
  }

  closed(): void {
    this.fail(new DomainError('BACKEND_UNREACHABLE', 'The screen ended before it was drawn.'));
  }

  showCursor(): void {
    // A picture has no cursor.
  }

  bell(): void {
    // A picture makes no sound.
  }

  showClipboard(): void {
    // A picture has no clipboard.
  }

  private async open(): Promise<void> {
    try {
      const stream = await this.deps.open();
      stream.on('error', () => undefined);
      if (this.isOver) return void stream.destroy();
      this.session = new UpstreamSession(stream, this.screen, this);
      await this.session.opened;
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    this.session?.close();
    this.reject(error);
  }
}

const emptyScreen = (): DomainError => new DomainError('BACKEND_UNREACHABLE', 'The screen has no pixels.');
