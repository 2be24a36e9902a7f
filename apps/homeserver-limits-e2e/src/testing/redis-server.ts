import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Certificate } from './certificate.js';
import { freePort } from './ports.js';

/** The installed Redis or Valkey server; undefined when there is none. */
export const redisProgram = ['redis-server', 'valkey-server'].find(
  (program) => spawnSync(program, ['--version']).status === 0,
);

/** A Redis server for a spec, on a free port and without data on disk. */
export class RedisServer {
  private child?: ChildProcess;

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly options: readonly string[],
  ) {}

  static async start(password?: string, tls?: Certificate): Promise<RedisServer> {
    const port = await freePort();
    const listen = tls
      ? ['--port', '0', '--tls-port', String(port), '--tls-cert-file', tls.certPath, '--tls-key-file', tls.keyPath]
      : ['--port', String(port)];
    const options = [
      ...listen,
      ...(tls ? ['--tls-auth-clients', 'no'] : []),
      ...(password === undefined ? [] : ['--requirepass', password]),
    ];
    const server = new RedisServer(port, await mkdtemp(join(tmpdir(), 'limits-e2e-redis-')), options);
    await server.launch();
    return server;
  }

  /** Starts, or starts again on the same port without data. */
  async launch(): Promise<void> {
    const args = [...this.options, '--bind', '127.0.0.1', '--save', '', '--dir', this.folder];
    const child = spawn(redisProgram!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.child = child;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('Ready to accept connections')) resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error('the Redis server exited before it was ready')));
    await promise;
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Connections stay open without responses. */
  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  async dispose(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
