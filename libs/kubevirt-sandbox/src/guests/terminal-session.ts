import type { GuestFacts } from './guest-facts.js';
import type { GuestFiles } from './guest-files.js';
import { type GuestPower, GuestShell } from './guest-shell.js';

const MAX_ESCAPE_LENGTH = 32;
const ESCAPE_SEQUENCE = /^\x1b(\[[0-9;?]*[A-Za-z~]|O[A-Z])/;

export interface TerminalSetup {
  facts: GuestFacts;
  power: GuestPower;
  now: () => number;
  /** Receives the output of one call of `type` in one step. */
  print: (text: string) => void;
  /** `ttyS0`, `tty1` */
  device: string;
  /** Skips the login, as in the shell of a container. */
  loggedInAs?: string;
  /** Files that survive the session. */
  files?: GuestFiles;
  /** Called when the user logs out; absent: the login is shown again. */
  onLeave?: (exitCode: number) => void;
}

/**
 * One terminal of a simulated guest: login, then a shell, with the echo and the line editing of a tty. Any user may log
 * in with any password.
 */
export class TerminalSession {
  private line = '';
  private state: 'login' | 'password' | 'shell' = 'login';
  private user = '';
  private shell: GuestShell | undefined;
  /** The collected output while input is processed. */
  private output: string[] | undefined;

  constructor(private readonly setup: TerminalSetup) {
    if (setup.loggedInAs) this.openShell(setup.loggedInAs);
  }

  /** Prints the system's greeting and the login prompt. */
  greet(): void {
    const { prettyName, kernelRelease } = this.setup.facts.profile;
    this.print(`\n${prettyName} (simulated guest)\nKernel ${kernelRelease} on an x86_64 (${this.setup.device})\n\n`);
    this.ask();
  }

  type(text: string): void {
    this.output = [];
    try {
      for (let at = 0; at < text.length;) {
        const escape =
          text[at] === '\x1b' ? ESCAPE_SEQUENCE.exec(text.slice(at, at + MAX_ESCAPE_LENGTH))?.[0] : undefined;
        if (!escape) this.key(text[at]!);
        at += escape?.length ?? 1;
      }
    } finally {
      this.flush();
      this.output = undefined;
    }
  }

  private print(text: string): void {
    if (this.output) this.output.push(text);
    else this.setup.print(text);
  }

  /** Prints the collected output, before anything else can print or end the session. */
  private flush(): void {
    if (!this.output?.length) return;
    const text = this.output.join('');
    this.output = [];
    this.setup.print(text);
  }

  private key(character: string): void {
    switch (character) {
      case '\r':
      case '\n':
        return this.enter();
      case '\x7f':
      case '\b':
        return this.erase();
      case '\x03':
        this.line = '';
        this.print('^C\n');
        return this.ask();
      case '\x04':
        if (this.line === '' && this.state === 'shell') this.line = 'exit';
        return this.state === 'shell' ? this.enter() : undefined;
      case '\x15':
        while (this.line.length > 0) this.erase();
        return;
    }
    if (character < ' ') return;
    this.line += character;
    if (this.state !== 'password') this.print(character);
  }

  private erase(): void {
    if (this.line === '') return;
    this.line = this.line.slice(0, -1);
    if (this.state !== 'password') this.print('\b \b');
  }

  private enter(): void {
    const line = this.line;
    this.line = '';
    this.print('\n');
    if (this.state === 'shell') return this.runLine(line);
    if (this.state === 'login') {
      this.user = line.trim();
      if (this.user !== '') this.state = 'password';
      return this.ask();
    }
    this.print('Last login: simulated\n');
    this.openShell(this.user);
    this.ask();
  }

  private runLine(line: string): void {
    this.print(this.shell!.run(line));
    if (this.shell!.finished) {
      if (this.setup.onLeave) {
        this.flush();
        return this.setup.onLeave(this.shell!.exitCode);
      }
      this.state = 'login';
      if (line === 'exit' || line === 'logout') this.greet();
      return;
    }
    this.ask();
  }

  private openShell(user: string): void {
    const { facts, power, now, files } = this.setup;
    const act = (action: () => void): void => {
      this.flush();
      action();
    };
    const flushing = { powerOff: () => act(() => power.powerOff()), reboot: () => act(() => power.reboot()) };
    this.shell = new GuestShell(facts, user, flushing, now, files);
    this.state = 'shell';
  }

  /** Prints the current prompt: login, password or command. */
  ask(): void {
    if (this.state === 'login') this.print(`${this.setup.facts.hostname} login: `);
    else if (this.state === 'password') this.print('Password: ');
    else this.print(this.shell!.prompt);
  }
}
