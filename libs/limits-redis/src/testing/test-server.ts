import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The server program installed on this machine, if any. */
export const serverProgram = ['redis-server', 'valkey-server'].find(
  (program) => spawnSync(program, ['--version']).status === 0,
);

/** A server for one spec, with its own port, folder and process. */
export class TestServer {
  private process: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    readonly folder: string,
    private readonly options: readonly string[],
  ) {}

  /** @param options returns the server's command-line options for its folder and port */
  static async start(options: (folder: string, port: number) => readonly string[] = plain): Promise<TestServer> {
    const folder = await mkdtemp(join(tmpdir(), 'limits-redis-'));
    const port = await freePort();
    const server = new TestServer(port, folder, options(folder, port));
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const options = [
      ...this.options,
      '--bind',
      '127.0.0.1',
      '--dir',
      this.folder,
      ...(isSentinel(this.options) ? [] : ['--save', '']),
    ];
    const process = spawn(serverProgram!, options, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.process = process;
    await new Promise<void>((resolve, reject) => {
      let log = '';
      process.stdout.on('data', (chunk: Buffer) => {
        log += chunk.toString();
        if (/Ready to accept connections|Sentinel ID is/.test(log)) resolve();
      });
      process.once('exit', () => reject(new Error(`The server exited before it was ready: ${log}`)));
      process.once('error', reject);
    });
  }

  async stop(): Promise<void> {
    const process = this.process;
    if (!process || process.exitCode !== null || process.signalCode !== null) return;
    const ended = new Promise((resolve) => process.once('exit', resolve));
    process.kill('SIGKILL');
    await ended;
  }

  /** Resumes the process. */
  thaw(): void {
    this.process?.kill('SIGCONT');
  }

  /** Suspends the process: connections stay open but nothing answers. */
  freeze(): void {
    this.process?.kill('SIGSTOP');
  }

  async close(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Options of a server without authentication or TLS. */
export const plain = (_folder: string, port: number): readonly string[] => ['--port', String(port)];

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

const isSentinel = (options: readonly string[]): boolean => options.includes('--sentinel');
