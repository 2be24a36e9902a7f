import {
  DomainError,
  formatRef,
  messageOf,
  type Clock,
  type ConsoleSource,
  type ConsoleStream,
  type InstanceDirectory,
  type InstanceRef,
  type TerminalSize,
} from '@headgate/domain-contracts';
import { connectDirectly } from './direct-screen.js';
import { Flow } from './flow.js';
import { forwardInput } from './forward-input.js';
import { VmState } from './guest-state.js';
import { FrameCapture } from './rfb/frame-capture.js';
import type { Framebuffer } from './rfb/framebuffer.js';
import { SharedScreen } from './rfb/shared-screen.js';
import { NotShareableError } from './rfb/upstream-session.js';
import { SerialSession } from './serial-session.js';
import { CLOSE_CODES, closeReason, type Viewer } from './viewer.js';

/** A viewer of a shell, whose terminal can change its size. */
export interface ShellViewer extends Viewer {
  onResize(listener: (size: TerminalSize) => void): void;
}

/** Opens consoles for viewers. The caller decides who may view and who may type; the broker enforces it. */
export class ConsoleBroker {
  private readonly serialSessions = new Map<string, SerialSession>();
  private readonly screens = new Map<string, SharedScreen>();
  /** The viewers of screens that can't be shared, where the backend serves one viewer at a time. */
  private readonly soleViewers = new Map<string, Viewer>();
  /** The looks at screens that no viewer has open. */
  private readonly captures = new Map<string, FrameCapture>();

  constructor(
    private readonly directory: InstanceDirectory,
    private readonly clock: Clock,
  ) {}

  async openVnc(ref: InstanceRef, source: ConsoleSource, viewer: Viewer): Promise<void> {
    await this.closeOnError(viewer, async () => {
      if (source.screenSharing === 'none') connectDirectly(viewer, await source.openVnc(ref), this.clock);
      else await this.shareScreen(ref, source, viewer);
    });
  }

  /**
   * The screen of a VM now. It never ends the session of a viewer: a screen that viewers have open is not opened again,
   * and a viewer who opens one comes first. Callers at the same time share one session.
   * @throws DomainError the backend's error, NOT_SUPPORTED for a screen with a password, BUSY, BACKEND_TIMEOUT
   */
  async frameOf(ref: InstanceRef, source: ConsoleSource): Promise<Framebuffer> {
    const key = this.keyOf(ref);
    if (this.soleViewers.has(key)) throw notPublic();
    const shared = this.screens.get(key);
    try {
      if (!shared) return await this.capture(key, ref, source).frame;
      await shared.ready();
      return await shared.frame();
    } catch (error) {
      if (error instanceof NotShareableError) throw notPublic(error);
      throw error;
    }
  }

  async openSerial(ref: InstanceRef, source: ConsoleSource, viewer: Viewer): Promise<void> {
    await this.closeOnError(viewer, async () => {
      const session = this.serialSession(ref, source);
      try {
        await session.ready();
      } catch (error) {
        session.end(CLOSE_CODES.failed, messageOf(error));
        throw error;
      }
      session.add(viewer);
    });
  }

  /** Each viewer of a shell has a shell of its own. */
  async openShell(ref: InstanceRef, source: ConsoleSource, viewer: ShellViewer, size: TerminalSize): Promise<void> {
    await this.closeOnError(viewer, async () => {
      if (viewer.viewOnly) throw new DomainError('NOT_PERMITTED', 'A shell is for administrators.');
      const { stream, resize } = await source.openShell(ref, size);
      const flow = new Flow(this.clock, stream);
      flow.add(viewer);
      stream.on('data', (data: Buffer) => flow.send(data));
      let failure: Error | undefined;
      stream.on('error', (error) => (failure = error));
      stream.once('end', () => stream.destroy());
      stream.once('close', () => {
        if (failure) viewer.close(CLOSE_CODES.failed, closeReason(messageOf(failure)));
        else viewer.close(CLOSE_CODES.ended, 'The shell has ended.');
      });
      viewer.onInput((data) => forwardInput(viewer, data, stream));
      viewer.onResize(resize);
      viewer.onClose(() => {
        flow.remove(viewer);
        stream.destroy();
      });
    });
  }

  /** Ends all sessions. @param reason is shown to their viewers */
  close(reason = 'The service is shutting down.'): void {
    const sessions = [...this.serialSessions.values(), ...this.screens.values()];
    for (const session of sessions) session.end(CLOSE_CODES.shutdown, reason);
    for (const capture of this.captures.values()) capture.cancel();
  }

  private serialSession(ref: InstanceRef, source: ConsoleSource): SerialSession {
    const key = this.keyOf(ref);
    const existing = this.serialSessions.get(key);
    if (existing) return existing;
    const session = new SerialSession({
      clock: this.clock,
      guest: new VmState(this.directory, this.clock, ref),
      open: () => source.openSerial(ref),
      onEnd: () => void this.serialSessions.delete(key),
    });
    this.serialSessions.set(key, session);
    return session;
  }

  /** Opens the screen once for all of its viewers: a backend serves a limited number, and KubeVirt only one. */
  private async shareScreen(ref: InstanceRef, source: ConsoleSource, viewer: Viewer): Promise<void> {
    if (this.soleViewers.has(this.keyOf(ref))) throw screenInUse();
    const screen = this.sharedScreen(ref, source);
    try {
      await screen.ready();
    } catch (error) {
      screen.end(CLOSE_CODES.failed, messageOf(error));
      if (!(error instanceof NotShareableError)) throw error;
      if (source.screenSharing === 'required') this.claimSoleView(ref, viewer);
      return connectDirectly(viewer, await source.openVnc(ref), this.clock);
    }
    screen.add(viewer);
  }

  private sharedScreen(ref: InstanceRef, source: ConsoleSource): SharedScreen {
    const key = this.keyOf(ref);
    const existing = this.screens.get(key);
    if (existing) return existing;
    const screen = new SharedScreen({
      clock: this.clock,
      guest: new VmState(this.directory, this.clock, ref),
      open: async () => {
        await this.endCapture(key);
        return source.openVnc(ref);
      },
      onEnd: () => void this.screens.delete(key),
    });
    this.screens.set(key, screen);
    return screen;
  }

  private capture(key: string, ref: InstanceRef, source: ConsoleSource): FrameCapture {
    const existing = this.captures.get(key);
    if (existing) return existing;
    const open = (): Promise<ConsoleStream> => source.openVnc(ref, { keepOthers: true });
    const capture = new FrameCapture({ clock: this.clock, open });
    this.captures.set(key, capture);
    const forget = (): void => {
      if (this.captures.get(key) === capture) this.captures.delete(key);
    };
    void Promise.allSettled([capture.frame, capture.ended]).then(forget);
    return capture;
  }

  /** A viewer needs the session of a backend that has only one. */
  private async endCapture(key: string): Promise<void> {
    const capture = this.captures.get(key);
    capture?.cancel();
    await capture?.ended;
  }

  /** A screen that asks for a password belongs to its first viewer, who knows the password. */
  private claimSoleView(ref: InstanceRef, viewer: Viewer): void {
    const key = this.keyOf(ref);
    if (this.soleViewers.has(key)) throw screenInUse();
    this.soleViewers.set(key, viewer);
    viewer.onClose(() => void this.soleViewers.delete(key));
  }

  /**
   * A VM that is created again under the same name has consoles of its own: its viewers must not see the output of its
   * predecessor.
   */
  private keyOf(ref: InstanceRef): string {
    return `${formatRef(ref)} ${this.directory.get(ref)?.uid ?? ''}`;
  }

  private async closeOnError(viewer: Viewer, open: () => Promise<void>): Promise<void> {
    try {
      await open();
    } catch (error) {
      viewer.close(CLOSE_CODES.failed, closeReason(messageOf(error)));
    }
  }
}

const screenInUse = (): DomainError =>
  new DomainError('BUSY', 'Another viewer is using this screen, and the cluster serves one viewer at a time.');

const notPublic = (cause?: Error): DomainError =>
  new DomainError('NOT_SUPPORTED', 'This screen asks for a password, so there is no picture of it.', { cause });
