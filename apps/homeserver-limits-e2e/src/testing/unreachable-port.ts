import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const LISTEN = `const server = require('node:net').createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => process.stdout.write(String(server.address().port)));`;

/** A port that accepts no connection, as on a host that is down: its process is stopped and its queue is full. */
export class UnreachablePort {
  private constructor(
    private readonly child: ChildProcess,
    private readonly waiting: readonly Socket[],
    readonly port: number,
  ) {}

  static async open(): Promise<UnreachablePort> {
    const child = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const port = Number(line.toString('utf8'));
    child.kill('SIGSTOP');
    const waiting = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    // The queue has accepted some of them; the others never connect.
    while (waiting.every(({ pending }) => pending)) await new Promise((next) => setImmediate(next));
    return new UnreachablePort(child, waiting, port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.waiting) socket.destroy();
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}
