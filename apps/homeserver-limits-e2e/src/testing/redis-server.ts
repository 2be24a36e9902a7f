import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Certificate } from './certificate.js';
import { endProcess } from './end-process.js';
import { freePort } from './ports.js';

/** The installed Redis or Valkey server; undefined when there is none. */
export const redisProgram = ['redis-server', 'valkey-server'].find(
  (program) => spawnSync(program, ['--version']).status === 0,
);

/** The command-line options for two ports and a folder. */
type ServerOptions = (port: number, busPort: number, folder: string) => string[];

const MAX_ATTEMPTS = 10;

/** A Redis server for a spec, on a free port and without data on disk. */
export class RedisServer {
  private child?: ChildProcess;

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly options: readonly string[],
    /** The port of the connections between the nodes of a cluster. */
    readonly busPort: number,
  ) {}

  static start(password?: string, tls?: Certificate): Promise<RedisServer> {
    return RedisServer.startWith((port) => [
      ...(tls
        ? ['--port', '0', '--tls-port', String(port), '--tls-cert-file', tls.certPath, '--tls-key-file', tls.keyPath]
        : ['--port', String(port)]),
      ...['--save', ''],
      ...(tls ? ['--tls-auth-clients', 'no'] : []),
      ...(password === undefined ? [] : ['--requirepass', password]),
    ]);
  }

  /** A node of a cluster, which has no slots yet. */
  static startNode(): Promise<RedisServer> {
    return RedisServer.startWith((port, busPort) => [
      ...['--port', String(port), '--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
      ...['--save', ''],
    ]);
  }

  /** A replica of another server. */
  static startReplica(primary: RedisServer): Promise<RedisServer> {
    const source = `127.0.0.1 ${primary.port}`;
    return RedisServer.startWith((port) => ['--port', String(port), '--replicaof', source, '--save', '']);
  }

  /**
   * A sentinel that monitors a primary under a name, and replaces it soon after it has gone. A primary that a busy
   * machine holds for a moment has not.
   */
  static startSentinel(name: string, primary: RedisServer): Promise<RedisServer> {
    return RedisServer.startWith((port, _busPort, folder) => {
      const file = join(folder, 'sentinel.conf');
      const lines = [
        `port ${port}`,
        `sentinel monitor ${name} 127.0.0.1 ${primary.port} 1`,
        `sentinel down-after-milliseconds ${name} 4000`,
        `sentinel failover-timeout ${name} 2000`,
      ];
      writeFileSync(file, `${lines.join('\n')}\n`);
      return [file, '--sentinel'];
    });
  }

  /** Starts a server on free ports, or on others when another process has taken them in the meantime. */
  private static async startWith(optionsOf: ServerOptions): Promise<RedisServer> {
    for (let attempt = 1; ; attempt++) {
      const folder = await mkdtemp(join(tmpdir(), 'limits-e2e-redis-'));
      const [port, busPort] = [await freePort(), await freePort()];
      const server = new RedisServer(port, folder, optionsOf(port, busPort, folder), busPort);
      try {
        await server.launch();
        return server;
      } catch (error) {
        await server.dispose();
        if (attempt === MAX_ATTEMPTS || !String(error).includes('Address already in use')) throw error;
      }
    }
  }

  /** The reply to a command, unparsed. */
  async run(command: string): Promise<string> {
    const socket = connect(this.port, '127.0.0.1');
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let reply = '';
    socket.on('data', (chunk: Buffer) => (reply += chunk.toString()));
    socket.once('error', reject);
    socket.once('close', () => resolve(reply));
    socket.end(`${command}\r\nQUIT\r\n`);
    return promise;
  }

  /** Starts, or starts again on the same port without data. */
  async launch(): Promise<void> {
    const args = [...this.options, '--bind', '127.0.0.1', '--dir', this.folder];
    const child = spawn(redisProgram!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.child = child;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let log = '';
    createInterface({ input: child.stdout }).on('line', (line) => {
      log += `${line}\n`;
      if (/Ready to accept connections|Sentinel ID is/.test(line)) resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`the Redis server exited before it was ready: ${log}`)));
    await promise;
  }

  async kill(): Promise<void> {
    if (this.child) await endProcess(this.child);
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
