import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisConnection } from '../redis-connection.js';
import { waitUntilReachable } from './wait-until-reachable.js';

const PEERS = join(import.meta.dirname, '../../../../tools/peers/install.mjs');

const runs = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

/** Valkey from the system, or the one that the tests have installed. */
function findValkey(): string | undefined {
  if (runs('valkey-server')) return 'valkey-server';
  const found = spawnSync(process.execPath, [PEERS, '--find', 'valkey'], { encoding: 'utf8' });
  return found.status === 0 ? found.stdout.trim() : undefined;
}

/** The programs of the servers that this machine has, by product. */
const PROGRAMS = { Redis: runs('redis-server') ? 'redis-server' : undefined, Valkey: findValkey() };

/** `describe` once per product; the title of a skipped one gives the reason. */
export function describeOnServers(title: string, suite: (program: string) => void): void {
  for (const [product, program] of Object.entries(PROGRAMS)) {
    if (program !== undefined) describe(`${title}, with ${product}`, () => suite(program));
    else describe.skip(`${title}, with ${product}: it is not installed`, () => suite(product));
  }
}

/** Whether a server was built with TLS. It exits for lack of the certificate, or before that for lack of TLS. */
export function supportsTls(program: string): boolean {
  const options = ['--port', '0', '--tls-port', '1', '--tls-cert-file', '/dev/null', '--tls-key-file', '/dev/null'];
  return !/TLS support/.test(spawnSync(program, options, { encoding: 'utf8', cwd: tmpdir() }).stdout);
}

/** The command-line options for a folder and two ports. */
type ServerOptions = (folder: string, port: number, busPort: number) => readonly string[];

const MAX_ATTEMPTS = 10;

/** A server for one spec, with its own port, folder and process. */
export class TestServer {
  private process: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    /** The port of the connections between the nodes of a cluster. */
    readonly busPort: number,
    readonly folder: string,
    private readonly program: string,
    private readonly options: readonly string[],
  ) {}

  /** Starts one on free ports, or on others when another process has taken them in the meantime. */
  static async start(program: string, options: ServerOptions = plain): Promise<TestServer> {
    for (let attempt = 1; ; attempt++) {
      const folder = await mkdtemp(join(tmpdir(), 'limits-redis-'));
      const [port, busPort] = [await freePort(), await freePort()];
      const server = new TestServer(port, busPort, folder, program, options(folder, port, busPort));
      try {
        await server.start();
        return server;
      } catch (error) {
        await server.close();
        if (attempt === MAX_ATTEMPTS || !String(error).includes('Address already in use')) throw error;
      }
    }
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
    const process = spawn(this.program, options, { stdio: ['ignore', 'pipe', 'inherit'] });
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

  /** Runs a command over a connection of its own. */
  async run(command: string[]): Promise<unknown> {
    const connection = new RedisConnection({ url: this.url, timeoutMs: 5000 });
    try {
      await waitUntilReachable({ ping: async () => void (await connection.run(['PING'])) });
      return await connection.run(command);
    } finally {
      connection.close();
    }
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

/**
 * Below the ports that Linux assigns automatically (32768 to 60999): no connection takes one while a server is
 * restarted.
 */
const PORTS = [20_000, 32_000] as const;

export async function freePort(): Promise<number> {
  const port = randomInt(...PORTS);
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch {
    return freePort();
  }
  probe.close();
  await once(probe, 'close');
  return port;
}

const isSentinel = (options: readonly string[]): boolean => options.includes('--sentinel');
