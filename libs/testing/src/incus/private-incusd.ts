import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../api-server/child-server.js';
import { INCUS_PATH, INCUS_PROGRAMS, type IncusFlavor, type IncusPrograms } from './incus-programs.js';
import { childOf, Namespaces } from './namespaces.js';
import { tinyContainer } from './tiny-container.js';

export interface PrivateIncusdOptions {
  /** Its host name, which is the name of the server. */
  readonly name?: string;
  /** Whether it also listens on a port of 127.0.0.1 of this machine, with TLS. It then shares the machine's network. */
  readonly listens?: boolean;
  /** The path of its image. Default: the tiny container, which is built if necessary. */
  readonly image?: string;
}

/** The alias of the tiny container's image. */
export const TINY_ALIAS = 'tiny';
/** Its storage pool, a folder, on which the root disk of the default profile is. */
export const INCUS_POOL = 'default';

const MAX_LOG_CHARS = 4_000;

/**
 * A daemon of Incus or LXD that belongs to one test, in namespaces and a folder of its own, with a pool, a default
 * profile and the image of the tiny container. Several run at the same time. The kernel ends it and its containers when
 * the process of the test ends. Requires root.
 */
export class PrivateIncusd {
  private child?: ChildProcess;
  private pid?: number;

  private constructor(
    readonly flavor: IncusFlavor,
    private readonly folder: string,
    private readonly namespaces: Namespaces,
    private readonly port: number | undefined,
  ) {}

  /** A daemon that is ready. @throws Error with the end of its log when it does not start */
  static async start(flavor: IncusFlavor, options: PrivateIncusdOptions = {}): Promise<PrivateIncusd> {
    const image = options.image ?? (await tinyContainer());
    // A short path, whatever TMPDIR is: those of sockets are limited to 107 characters.
    const folder = await mkdtemp('/tmp/hgi-');
    // The users of the containers have to reach their files.
    await chmod(folder, 0o711);
    const { name = 'private', listens = false } = options;
    const namespaces = await Namespaces.open({ hostName: name, ownNetwork: !listens });
    const daemon = new PrivateIncusd(flavor, folder, namespaces, listens ? await freePort() : undefined);
    try {
      await daemon.resume();
      await daemon.prepare(image);
      return daemon;
    } catch (error) {
      await daemon.close();
      throw error;
    }
  }

  /** The path of its socket. */
  get socket(): string {
    return join(this.dataFolder, 'unix.socket');
  }

  /** The URL of its API on the network. @throws Error unless it `listens` */
  get url(): string {
    if (this.port === undefined) throw new Error('This daemon does not listen on the network.');
    return `https://127.0.0.1:${this.port}`;
  }

  /** Its own certificate, in PEM. */
  certificate(): Promise<string> {
    return readFile(join(this.dataFolder, 'server.crt'), 'utf8');
  }

  /** Starts the daemon after `kill()`, and waits until it is ready. Containers have continued meanwhile. */
  async resume(): Promise<void> {
    const log = await open(join(this.folder, 'log'), 'a');
    const child = this.namespaces.spawn([this.programs.daemon, '--group', 'root'], this.env, log.fd);
    this.child = child;
    await log.close();
    const ended = once(child, 'exit').then(async ([code]) => {
      throw new Error(`${this.programs.daemon} exited with code ${String(code)}. ${await this.logEnd()}`);
    });
    ended.catch(() => undefined);
    this.pid = await Promise.race([childOf(child.pid), ended]);
    const [program = '', ...args] = this.programs.wait;
    await Promise.race([promisify(execFile)(program, args, { env: this.env }), ended]);
  }

  /** Kills the daemon without warning. Its containers continue. */
  async kill(): Promise<void> {
    if (!this.isRunning || !this.child) return;
    const exited = once(this.child, 'exit');
    this.signal('SIGKILL');
    await exited;
  }

  /** Suspends the daemon: it accepts connections and does not respond until `thaw()`. */
  freeze(): void {
    this.signal('SIGSTOP');
  }

  thaw(): void {
    this.signal('SIGCONT');
    // nsenter suspends itself with its child, and would not report its end.
    this.child?.kill('SIGCONT');
  }

  /** @returns the output of a command of the engine's own client, such as `incus list` */
  async run(...args: string[]): Promise<string> {
    const running = promisify(execFile)(this.programs.client, args, { env: this.env });
    running.child.stdin?.end();
    return (await running).stdout;
  }

  /** The names of its instances in the default project. */
  async instances(): Promise<string[]> {
    return (await this.run('list', '--format', 'csv', '--columns', 'n')).split('\n').filter((name) => name !== '');
  }

  /** Ends the containers and the daemon, and removes its files. */
  async close(): Promise<void> {
    this.thaw();
    // With the daemon, the containers would end as well, but leave their control groups.
    if (this.isRunning) await this.run('stop', '--all', '--force').catch(() => '');
    await this.kill();
    await this.namespaces.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  private get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  private get programs(): IncusPrograms {
    return INCUS_PROGRAMS[this.flavor];
  }

  private get dataFolder(): string {
    return join(this.folder, 'data');
  }

  private get env(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      PATH: INCUS_PATH,
      HOME: this.folder,
      [this.programs.folderVariable]: this.dataFolder,
      [this.programs.clientVariable]: join(this.folder, 'client'),
    };
  }

  private signal(name: NodeJS.Signals): void {
    if (this.isRunning && this.pid !== undefined) process.kill(this.pid, name);
  }

  private async prepare(image: string): Promise<void> {
    await this.run('storage', 'create', INCUS_POOL, 'dir');
    await this.run('profile', 'device', 'add', 'default', 'root', 'disk', 'path=/', `pool=${INCUS_POOL}`);
    await this.run('image', 'import', image, '--alias', TINY_ALIAS);
    if (this.port !== undefined) await this.run('config', 'set', 'core.https_address', `127.0.0.1:${this.port}`);
  }

  private async logEnd(): Promise<string> {
    const log = await readFile(join(this.folder, 'log'), 'utf8').catch(() => '');
    return `The end of its log:\n${log.slice(-MAX_LOG_CHARS)}`;
  }
}
