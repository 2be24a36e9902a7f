import type { Cancel, SandboxClock } from '@headgate/kube-sandbox';
import { bootMessages } from './boot-messages.js';
import type { GuestFacts } from './guest-facts.js';
import { GuestScreen } from './guest-screen.js';
import type { GuestPower } from './guest-shell.js';
import { Keyboard } from './keyboard.js';
import { TerminalSession } from './terminal-session.js';

/** How a guest behaves when it boots. */
export interface BootBehavior {
  readonly bootMs: number;
  /** Its machine starts paused, so it boots when it is resumed for the first time. */
  readonly startsPaused?: boolean;
  /** It never ends to boot. */
  readonly hangs?: boolean;
}

const CLEAR_SCREEN = '\x1b[2J';

/**
 * The inside of one running VM: a serial port and a graphical screen, each with a login and a shell. It is created on
 * first use, so a VM without viewers costs nothing.
 */
export class SimulatedGuest {
  readonly screen: GuestScreen;
  readonly keyboard = new Keyboard((text) => this.typeOnScreen(text));
  private readonly serialListeners = new Set<(data: Buffer) => void>();
  private serial!: TerminalSession;
  private terminal!: TerminalSession;
  private pendingBoot: Cancel[] = [];
  private held: (() => void)[] = [];
  private booting = false;
  private frozen = false;
  private waitsForStart: boolean;

  constructor(
    readonly facts: GuestFacts,
    private readonly power: GuestPower,
    private readonly clock: SandboxClock,
    private readonly behavior: BootBehavior,
  ) {
    this.screen = new GuestScreen(facts.name);
    this.waitsForStart = behavior.startsPaused === true;
    this.boot(facts.bootedAt);
  }

  /** Receives the output of the serial port from now on. */
  onSerial(listener: (data: Buffer) => void): () => void {
    this.serialListeners.add(listener);
    return () => this.serialListeners.delete(listener);
  }

  typeOnSerial(text: string): void {
    this.whenAwake(() => !this.booting && this.serial.type(text));
  }

  typeOnScreen(text: string): void {
    this.whenAwake(() => !this.booting && this.terminal.type(text));
  }

  /** Pauses or resumes the vCPUs: a paused guest reacts to nothing, and to its missed input afterwards. */
  freeze(frozen: boolean): void {
    this.frozen = frozen;
    if (frozen) return;
    if (this.waitsForStart) {
      this.waitsForStart = false;
      this.boot(this.clock.now(), true);
    }
    const missed = this.held;
    this.held = [];
    for (const act of missed) act();
  }

  /** A reset from inside or outside: the same machine boots again. */
  reboot(): void {
    this.boot(this.clock.now());
  }

  /** Prints the shutdown message; the owner ends the machine. */
  shutDown(): void {
    this.print('\n[  OK  ] Reached target poweroff.target - System Power Off.\nreboot: Power down\n');
  }

  dispose(): void {
    this.cancelBoot();
    this.serialListeners.clear();
  }

  private whenAwake(act: () => void): void {
    if (this.frozen) this.held.push(act);
    else act();
  }

  /** @param printsAll also if it takes no time: its serial line may be open already */
  private boot(bootedAt: number, printsAll = false): void {
    this.cancelBoot();
    const { bootMs, hangs = false } = this.behavior;
    const now = (): number => this.clock.now();
    const facts = { ...this.facts, bootedAt };
    const { power } = this;
    this.serial = new TerminalSession({ facts, power, now, device: 'ttyS0', print: (text) => this.printSerial(text) });
    this.terminal = new TerminalSession({ facts, power, now, device: 'tty1', print: (text) => this.printScreen(text) });
    this.screen.clear();
    this.booting = true;
    if (this.waitsForStart) return;
    const elapsed = this.clock.now() - bootedAt;
    this.booting = printsAll || hangs || elapsed < bootMs;
    if (!this.booting) return this.terminal.greet();

    for (const { at, line } of bootMessages(facts)) {
      const due = at * bootMs - elapsed;
      if (due > 0 || printsAll)
        this.pendingBoot.push(this.clock.schedule(() => this.print(`${line}\n`), Math.max(0, due)));
      else this.printScreen(`${line}\n`);
    }
    if (!hangs) this.pendingBoot.push(this.clock.schedule(() => this.finishBoot(), Math.max(0, bootMs - elapsed)));
  }

  private finishBoot(): void {
    this.booting = false;
    this.screen.clear();
    this.serial.greet();
    this.terminal.greet();
  }

  private cancelBoot(): void {
    for (const cancel of this.pendingBoot) cancel();
    this.pendingBoot = [];
  }

  private print(text: string): void {
    this.printSerial(text);
    this.printScreen(text);
  }

  private printSerial(text: string): void {
    const data = Buffer.from(text.replace(/\r?\n/g, '\r\n'));
    for (const listener of this.serialListeners) listener(data);
  }

  private printScreen(text: string): void {
    const cleared = text.lastIndexOf(CLEAR_SCREEN);
    if (cleared >= 0) this.screen.clear();
    // A deleted character arrives as backspace, blank, backspace; the screen's cursor erases as it goes back.
    this.screen.write(
      text
        .slice(Math.max(0, cleared))
        .replace(/\x1b\[[0-9;]*[A-Za-z]/g, '')
        .replaceAll('\b \b', '\b'),
    );
  }
}
