import { once } from 'node:events';
import { WebSocket } from 'ws';
import { PATIENCE } from './until.js';

/** A shell's prompt; busybox asks the terminal for its cursor behind it. */
export const PROMPT = /[$#] (\x1b\[6n)?$/;

/** A console socket, read like a person reads a screen. */
export class Terminal {
  seen = '';
  private constructor(private readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => (this.seen += data.toString('latin1')));
  }

  static async open(url: string): Promise<Terminal> {
    const socket = new WebSocket(url);
    const terminal = new Terminal(socket);
    await once(socket, 'open');
    return terminal;
  }

  /** Waits until what was printed since the last call ends so, and forgets it. @throws Error with what was printed */
  async expect(pattern: RegExp, patience = PATIENCE): Promise<string> {
    const timer = AbortSignal.timeout(patience);
    while (!pattern.test(this.seen)) {
      await once(this.socket, 'message', { signal: timer }).catch((error: unknown) => {
        throw new Error(`waited ${patience} ms for ${String(pattern)}; the console says:\n${this.seen.slice(-2000)}`, {
          cause: error,
        });
      });
    }
    const text = this.seen;
    this.seen = '';
    return text;
  }

  /**
   * Logs in at a prompt for the login name. The guest's login empties its input after it has printed the prompt for the
   * password, so what is typed right behind it may get lost: then it is typed again.
   */
  async logIn(user: string, password: string): Promise<void> {
    this.type(`${user}\r`);
    await this.expect(/[Pp]assword: $/);
    for (let attempt = 1; ; attempt++) {
      this.type(`${password}\r`);
      const shell = this.expect(PROMPT, 5000);
      if (attempt === 6) return void (await shell);
      if (
        await shell.then(
          () => true,
          () => false,
        )
      )
        return;
    }
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
