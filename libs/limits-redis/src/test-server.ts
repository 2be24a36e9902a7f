import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The server's program on this machine; undefined: there is none. */
export const serverProgram = ['redis-server', 'valkey-server'].find(
  (program) => spawnSync(program, ['--version']).status === 0,
);

/** A server of its own for a spec: own port, own folder, own process. */
export class TestServer {
  readonly port: number;
  readonly #folder: string;
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
  }

  static async start(): Promise<TestServer> {
    const server = new TestServer(await freePort(), await mkdtemp(join(tmpdir(), 'limits-redis-')));
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', this.#folder];
    const process = spawn(serverProgram!, options, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = process;
    await new Promise<void>((resolve, reject) => {
      let log = '';
      process.stdout.on('data', (chunk: Buffer) => {
        log += chunk.toString();
        if (log.includes('Ready to accept connections')) resolve();
      });
      process.once('exit', () => reject(new Error(`The server ended before it was ready: ${log}`)));
      process.once('error', reject);
    });
  }

  async stop(): Promise<void> {
    const process = this.#process;
    if (!process || process.exitCode !== null || process.signalCode !== null) return;
    const ended = new Promise((resolve) => process.once('exit', resolve));
    process.kill('SIGKILL');
    await ended;
  }

  /** The process stands still: connections stay open and nothing answers. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  async close(): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
