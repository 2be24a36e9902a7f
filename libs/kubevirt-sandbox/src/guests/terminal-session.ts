import type { GuestFacts } from './guest-facts.js';
import type { GuestFiles } from './guest-files.js';
import { type GuestPower, GuestShell } from './guest-shell.js';

const ESCAPE_SEQUENCE = /^\x1b(\[[0-9;?]*[A-Za-z~]|O[A-Z])/;

export interface TerminalSetup {
  facts: GuestFacts;
  power: GuestPower;
  now: () => number;
  print: (text: string) => void;
  /** `ttyS0`, `tty1` */
  device: string;
  /** Skips the login, as in the shell of a container. */
  loggedInAs?: string;
  /** Files that survive the session. */
  files?: GuestFiles;
  /** Called when the user logs out; absent: the login is shown again. */
  onLeave?: () => void;
}

/**
 * One terminal of a simulated guest: login, then a shell, with the echo and the line editing of a tty. Any user may log in
 * with any password.
 */
export class TerminalSession {
  private line = '';
  private state: 'login' | 'password' | 'shell' = 'login';
  private user = '';
  private shell: GuestShell | undefined;

  constructor(private readonly setup: TerminalSetup) {
    if (setup.loggedInAs) this.openShell(setup.loggedInAs);
  }

  /** Prints the system's greeting and the login prompt. */
  greet(): void {
    const { prettyName, kernelRelease } = this.setup.facts.profile;
    this.setup.print(
      `\n${prettyName} (simulated guest)\nKernel ${kernelRelease} on an x86_64 (${this.setup.device})\n\n`,
    );
    this.ask();
  }

  type(text: string): void {
    let rest = text;
    while (rest.length > 0) {
      const escape = ESCAPE_SEQUENCE.exec(rest)?.[0];
      if (!escape) this.key(rest[0]!);
      rest = rest.slice(escape?.length ?? 1);
    }
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
        this.setup.print('^C\n');
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
    if (this.state !== 'password') this.setup.print(character);
  }

  private erase(): void {
    if (this.line === '') return;
    this.line = this.line.slice(0, -1);
    if (this.state !== 'password') this.setup.print('\b \b');
  }

  private enter(): void {
    const line = this.line;
    this.line = '';
    this.setup.print('\n');
    if (this.state === 'shell') return this.runLine(line);
    if (this.state === 'login') {
      this.user = line.trim();
      if (this.user !== '') this.state = 'password';
      return this.ask();
    }
    this.setup.print('Last login: simulated\n');
    this.openShell(this.user);
    this.ask();
  }

  private runLine(line: string): void {
    this.setup.print(this.shell!.run(line));
    if (this.shell!.finished) {
      if (this.setup.onLeave) return this.setup.onLeave();
      this.state = 'login';
      if (line === 'exit' || line === 'logout') this.greet();
      return;
    }
    this.ask();
  }

  private openShell(user: string): void {
    this.shell = new GuestShell(this.setup.facts, user, this.setup.power, this.setup.now, this.setup.files);
    this.state = 'shell';
  }

  /** Prints the current prompt: login, password or command. */
  ask(): void {
    if (this.state === 'login') this.setup.print(`${this.setup.facts.hostname} login: `);
    else if (this.state === 'password') this.setup.print('Password: ');
    else this.setup.print(this.shell!.prompt);
  }
}
