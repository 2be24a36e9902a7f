import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { WAIT_TIMEOUT_MS } from './until.js';

/** The prompt of a shell. busybox queries the cursor position of the terminal after it. */
export const PROMPT = /[$#] (\x1b\[6n)?$/;

/** A console socket with its output as text. */
export class Terminal {
  seen = '';
  private closed: string | undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly report?: () => Promise<string>,
  ) {
    socket.on('message', (data: Buffer) => (this.seen += data.toString('latin1')));
    socket.on('close', (code: number, reason: Buffer) => {
      this.closed = `closed with ${code} ${String(reason)}`;
      // Wakes a test that waits for output.
      socket.emit('message', Buffer.alloc(0), true);
    });
  }

  /** @param report describes the guest in the error of a wait that fails */
  static async open(url: string, report?: () => Promise<string>): Promise<Terminal> {
    const socket = new WebSocket(url);
    const terminal = new Terminal(socket, report);
    await once(socket, 'open');
    return terminal;
  }

  /** Waits until the output since the last call matches, and drops it. @throws Error with that output */
  async expect(pattern: RegExp, patience = WAIT_TIMEOUT_MS): Promise<string> {
    const timer = AbortSignal.timeout(patience);
    while (!pattern.test(this.seen)) {
      if (this.closed !== undefined) throw await this.failure(`the console was ${this.closed} before`, pattern);
      try {
        await once(this.socket, 'message', { signal: timer });
      } catch (cause) {
        throw await this.failure(`waited ${patience} ms for`, pattern, cause);
      }
    }
    const text = this.seen;
    this.seen = '';
    return text;
  }

  private async failure(what: string, pattern: RegExp, cause?: unknown): Promise<Error> {
    const output = `the console shows:\n${this.seen.slice(-2000)}`;
    const guest = this.report ? `\nthe guest:\n${await this.report()}` : '';
    return new Error(`${what} ${String(pattern)}; ${output}${guest}`, { cause });
  }

  /**
   * Logs in at a login prompt. The guest's login clears its input after it printed the password prompt, so a password
   * that is sent right after the prompt may get lost and is sent again.
   */
  async logIn(user: string, password: string): Promise<void> {
    this.type(`${user}\r`);
    await this.expect(/[Pp]assword: $/);
    for (let attempt = 1; ; attempt++) {
      this.type(`${password}\r`);
      if (attempt === 6) return void (await this.expect(PROMPT));
      const shell = this.expect(PROMPT, 5000);
      if (
        await shell.then(
          () => true,
          () => false,
        )
      )
        return;
    }
  }

  /**
   * Runs a command at the prompt of a shell and returns its output. The guest's shell takes lines of up to 1,000
   * characters.
   */
  async run(command: string): Promise<string> {
    this.seen = '';
    // A console repeats what earlier viewers have seen, also the output of earlier commands.
    const mark = randomBytes(3).toString('hex');
    // The markers are split in the command, so that its echo does not match.
    this.type(`echo "[be""gin ${mark}]"; ${command}; echo "[en""d ${mark}]"\r`);
    // Programs in the background may print after the prompt.
    const whole = new RegExp(`\\[begin ${mark}\\]\\r?\\n([\\s\\S]*)\\[end ${mark}\\]\\r?\\n[\\s\\S]*[$#] `);
    const output = await this.expect(whole);
    return (whole.exec(output)?.[1] ?? '').replaceAll('\r', '').trim();
  }

  type(text: string): void {
    this.socket.send(Buffer.from(text), { binary: true });
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    this.socket.close();
    await once(this.socket, 'close');
  }
}
