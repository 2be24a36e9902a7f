import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
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
    /** The port of the connections between the nodes of a cluster. */
    readonly busPort = 0,
  ) {}

  static async start(password?: string, tls?: Certificate): Promise<RedisServer> {
    const port = await freePort();
    const listen = tls
      ? ['--port', '0', '--tls-port', String(port), '--tls-cert-file', tls.certPath, '--tls-key-file', tls.keyPath]
      : ['--port', String(port)];
    const options = [
      ...listen,
      ...['--save', ''],
      ...(tls ? ['--tls-auth-clients', 'no'] : []),
      ...(password === undefined ? [] : ['--requirepass', password]),
    ];
    const server = new RedisServer(port, await mkdtemp(join(tmpdir(), 'limits-e2e-redis-')), options);
    await server.launch();
    return server;
  }

  /** A node of a cluster, which has no slots yet. */
  static async startNode(): Promise<RedisServer> {
    const [port, busPort] = [await freePort(), await freePort()];
    const options = ['--port', String(port), '--cluster-enabled', 'yes', '--cluster-port', String(busPort)];
    const folder = await mkdtemp(join(tmpdir(), 'limits-e2e-redis-'));
    const server = new RedisServer(port, folder, [...options, '--save', ''], busPort);
    await server.launch();
    return server;
  }

  /** A replica of another server. */
  static async startReplica(primary: RedisServer): Promise<RedisServer> {
    const port = await freePort();
    const options = ['--port', String(port), '--replicaof', `127.0.0.1 ${primary.port}`, '--save', ''];
    const server = new RedisServer(port, await mkdtemp(join(tmpdir(), 'limits-e2e-redis-')), options);
    await server.launch();
    return server;
  }

  /** A sentinel that monitors a primary under a name, and replaces it as soon as it is gone. */
  static async startSentinel(name: string, primary: RedisServer): Promise<RedisServer> {
    const port = await freePort();
    const folder = await mkdtemp(join(tmpdir(), 'limits-e2e-sentinel-'));
    const file = join(folder, 'sentinel.conf');
    const lines = [
      `port ${port}`,
      `sentinel monitor ${name} 127.0.0.1 ${primary.port} 1`,
      `sentinel down-after-milliseconds ${name} 300`,
      `sentinel failover-timeout ${name} 2000`,
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    const server = new RedisServer(port, folder, [file, '--sentinel']);
    await server.launch();
    return server;
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
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (/Ready to accept connections|Sentinel ID is/.test(line)) resolve();
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
