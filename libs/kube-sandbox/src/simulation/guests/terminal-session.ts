import type { GuestFacts } from './guest-facts.js';
import { type GuestPower, GuestShell } from './guest-shell.js';

const ESCAPE_SEQUENCE = /^\x1b(\[[0-9;?]*[A-Za-z~]|O[A-Z])/;

/**
 * One terminal of a simulated guest: login, then a shell, with the echo and the editing of a tty. Any user may log in with
 * any password.
 */
export class TerminalSession {
  private line = '';
  private state: 'login' | 'password' | 'shell' = 'login';
  private user = '';
  private shell: GuestShell | undefined;

  constructor(
    private readonly facts: GuestFacts,
    private readonly power: GuestPower,
    private readonly now: () => number,
    private readonly print: (text: string) => void,
    private readonly device: string,
  ) {}

  /** A terminal that skips the login, as the shell of a container does. */
  static loggedIn(
    ...[facts, power, now, print, device, user]: [...ConstructorParameters<typeof TerminalSession>, string]
  ) {
    const session = new TerminalSession(facts, power, now, print, device);
    session.openShell(user);
    return session;
  }

  get finished(): boolean {
    return this.shell?.finished ?? false;
  }

  /** Prints the system's greeting and asks for a login. */
  greet(): void {
    const { prettyName, kernelRelease } = this.facts.profile;
    this.print(`\n${prettyName} (simulated guest)\nKernel ${kernelRelease} on an x86_64 (${this.device})\n\n`);
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
      this.state = 'login';
      if (line === 'exit' || line === 'logout') this.greet();
      return;
    }
    this.ask();
  }

  private openShell(user: string): void {
    this.shell = new GuestShell(this.facts, user, this.power, this.now);
    this.state = 'shell';
  }

  /** Prints what the terminal waits for: a login, a password or a command. */
  ask(): void {
    if (this.state === 'login') this.print(`${this.facts.hostname} login: `);
    else if (this.state === 'password') this.print('Password: ');
    else this.print(this.shell!.prompt);
  }
}
