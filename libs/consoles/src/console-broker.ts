import {
  DomainError,
  formatRef,
  isRunningStatus,
  isVm,
  messageOf,
  type Clock,
  type ConsoleSource,
  type InstanceDirectory,
  type InstanceRef,
  type TerminalSize,
} from '@headgate/domain-contracts';
import { Flow } from './flow.js';
import { SharedScreen } from './rfb/shared-screen.js';
import { NotShareable } from './rfb/upstream-session.js';
import { SerialSession } from './serial-session.js';
import { takeInput } from './take-input.js';
import { CLOSE, closeReason, type Viewer } from './viewer.js';
import { joinVnc } from './vnc-session.js';

/** What a shell's viewer sends beside his keys: `{"resize":{"columns":80,"rows":24}}` in a text frame. */
export interface ShellViewer extends Viewer {
  onResize(listener: (size: TerminalSize) => void): void;
}

/** Opens consoles for viewers. Who may look and who may type was decided before; it is enforced here. */
export class ConsoleBroker {
  private readonly serial = new Map<string, SerialSession>();
  private readonly screens = new Map<string, SharedScreen>();
  private readonly onlyViewers = new Map<string, Viewer>();

  constructor(
    private readonly directory: InstanceDirectory,
    private readonly clock: Clock,
  ) {}

  async openVnc(ref: InstanceRef, source: ConsoleSource, viewer: Viewer): Promise<void> {
    await this.orClose(viewer, async () => {
      if (source.vncViewers === 'one') await this.shareScreen(ref, source, viewer);
      else joinVnc(viewer, await source.openVnc(ref), this.clock);
    });
  }

  async openSerial(ref: InstanceRef, source: ConsoleSource, viewer: Viewer): Promise<void> {
    await this.orClose(viewer, async () => {
      const session = this.serialSession(ref, source);
      try {
        await session.ready();
      } catch (error) {
        session.end(CLOSE.failed, messageOf(error));
        throw error;
      }
      session.add(viewer);
    });
  }

  /** A shell is its viewer's own: nobody else sees it. */
  async openShell(ref: InstanceRef, source: ConsoleSource, viewer: ShellViewer, size: TerminalSize): Promise<void> {
    await this.orClose(viewer, async () => {
      if (viewer.viewOnly) throw new DomainError('NOT_PERMITTED', 'A shell is for administrators.');
      const { stream, resize } = await source.openShell(ref, size);
      const flow = new Flow(this.clock, stream);
      flow.add(viewer);
      stream.on('data', (data: Buffer) => flow.send(data));
      stream.on('error', () => undefined);
      stream.once('end', () => stream.destroy());
      stream.once('close', () => viewer.close(CLOSE.ended, 'The shell has ended.'));
      viewer.onInput((data) => takeInput(viewer, data, stream));
      viewer.onResize(resize);
      viewer.onClose(() => {
        flow.remove(viewer);
        stream.destroy();
      });
    });
  }

  close(): void {
    const held = [...this.serial.values(), ...this.screens.values()];
    for (const session of held) session.end(1001, 'The service is ending.');
  }

  private serialSession(ref: InstanceRef, source: ConsoleSource): SerialSession {
    const key = formatRef(ref);
    const held = this.serial.get(key);
    if (held) return held;
    const session = new SerialSession({
      clock: this.clock,
      open: () => source.openSerial(ref),
      runs: () => this.runs(ref),
      ended: () => void this.serial.delete(key),
    });
    this.serial.set(key, session);
    return session;
  }

  /** A backend that serves one viewer would end him for the next one: it is asked once, for all of them. */
  private async shareScreen(ref: InstanceRef, source: ConsoleSource, viewer: Viewer): Promise<void> {
    if (this.onlyViewers.has(formatRef(ref))) throw taken();
    const screen = this.sharedScreen(ref, source);
    try {
      await screen.ready();
    } catch (error) {
      screen.end(CLOSE.failed, messageOf(error));
      if (!(error instanceof NotShareable)) throw error;
      this.claimOnlyView(ref, viewer);
      return joinVnc(viewer, await source.openVnc(ref), this.clock);
    }
    screen.add(viewer);
  }

  private sharedScreen(ref: InstanceRef, source: ConsoleSource): SharedScreen {
    const key = formatRef(ref);
    const held = this.screens.get(key);
    if (held) return held;
    const screen = new SharedScreen({
      clock: this.clock,
      open: () => source.openVnc(ref),
      runs: () => this.runs(ref),
      ended: () => void this.screens.delete(key),
    });
    this.screens.set(key, screen);
    return screen;
  }

  /** A screen that asks for a password, say, is for the one who knows it; the next one is told. */
  private claimOnlyView(ref: InstanceRef, viewer: Viewer): void {
    const key = formatRef(ref);
    if (this.onlyViewers.has(key)) throw taken();
    this.onlyViewers.set(key, viewer);
    viewer.onClose(() => void this.onlyViewers.delete(key));
  }

  private runs(ref: InstanceRef): boolean {
    const instance = this.directory.get(ref);
    return instance !== undefined && isVm(instance) && isRunningStatus(instance.status);
  }

  private async orClose(viewer: Viewer, open: () => Promise<void>): Promise<void> {
    try {
      await open();
    } catch (error) {
      viewer.close(CLOSE.failed, closeReason(messageOf(error)));
    }
  }
}

const taken = (): DomainError =>
  new DomainError('BUSY', 'Somebody else is looking at this screen, and the cluster shows it to one viewer only.');
