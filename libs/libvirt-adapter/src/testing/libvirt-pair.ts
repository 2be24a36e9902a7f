import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { SystemClock, type Backend } from '@headgate/domain-contracts';
import { LibvirtBackend } from '../libvirt-backend.js';
import { Virsh } from '../virsh/virsh.js';

/** User and group of the unprivileged system account. */
const UNPRIVILEGED_ID = 65534;

/**
 * A libvirt daemon with a host name and a machine UUID of its own, as a second machine would have, because libvirt refuses to migrate a guest to
 * the machine on which it runs. Requires root to switch users and to create a namespace.
 */
export class LibvirtMachine {
  private child?: ChildProcess;

  private constructor(
    readonly name: string,
    private readonly folder: string,
  ) {}

  static async start(name: string): Promise<LibvirtMachine> {
    const folder = await mkdtemp(join(tmpdir(), 'hgm-'));
    await chmod(folder, 0o755);
    for (const child of ['run', 'config/libvirt', 'cache', 'images']) {
      await mkdir(join(folder, child), { recursive: true });
    }
    await writeFile(join(folder, 'config/libvirt/libvirtd.conf'), `host_uuid = "${randomUUID()}"\n`);
    // Without virtlogd, which would be started on demand and outlive the test.
    await writeFile(join(folder, 'config/libvirt/qemu.conf'), 'stdio_handler = "file"\n');
    for (const child of ['run', 'config', 'config/libvirt', 'cache', 'images'])
      await chown(join(folder, child), UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    const machine = new LibvirtMachine(name, folder);
    await machine.boot();
    return machine;
  }

  get uri(): string {
    return `qemu+unix:///session?socket=${this.socket}`;
  }

  get images(): string {
    return join(this.folder, 'images');
  }

  get virsh(): Virsh {
    return new Virsh({ uri: this.uri });
  }

  /** Starts the daemon. Guests that were running when it was killed continue. */
  async boot(): Promise<void> {
    const user = ['--reuid', String(UNPRIVILEGED_ID), '--regid', String(UNPRIVILEGED_ID), '--clear-groups'];
    const daemon = `hostname ${this.name} && exec setpriv ${user.join(' ')} libvirtd`;
    this.child = spawn('unshare', ['--uts', 'sh', '-c', daemon], {
      stdio: 'ignore',
      env: {
        ...process.env,
        HOME: this.folder,
        XDG_RUNTIME_DIR: join(this.folder, 'run'),
        XDG_CONFIG_HOME: join(this.folder, 'config'),
        XDG_CACHE_HOME: join(this.folder, 'cache'),
      },
    });
    while (!(await this.isListening())) {
      if (this.child.exitCode !== null) throw new Error(`libvirtd ended with ${this.child.exitCode}.`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async volumes(): Promise<string[]> {
    const output = await this.virsh.run(['vol-list', 'headgate']).catch(() => '');
    return [...output.matchAll(/^\s*(\S+)\s+\//gm)].map(([, name = '']) => name);
  }

  async domains(): Promise<string[]> {
    return (await this.virsh.run(['list', '--all', '--name'])).split('\n').filter((name) => name.trim() !== '');
  }

  async close(): Promise<void> {
    for (const name of await this.domains().catch(() => []))
      await this.virsh.run(['destroy', name]).catch(() => undefined);
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  private get socket(): string {
    return join(this.folder, 'run', 'libvirt', 'libvirt-sock');
  }

  private isListening(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.socket, () => resolve(true)).on('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  }
}

/** Two machines, and a service with a context for each of them. */
export class LibvirtPair {
  private readonly opened: LibvirtBackend[] = [];

  private constructor(
    readonly machines: readonly [LibvirtMachine, LibvirtMachine],
    private readonly dataDir: string,
    private readonly image: string,
  ) {}

  static async open(image: string): Promise<LibvirtPair> {
    const machines = [await LibvirtMachine.start('alpha'), await LibvirtMachine.start('beta')] as const;
    return new LibvirtPair([...machines], await mkdtemp(join(tmpdir(), 'hgm-data-')), image);
  }

  /** The contexts are named after their machines. */
  start(options: { readonly images?: readonly string[] } = {}): readonly [LibvirtBackend, LibvirtBackend] {
    const backends: LibvirtBackend[] = [];
    for (const [i, machine] of this.machines.entries()) {
      backends.push(
        LibvirtBackend.open({
          context: machine.name,
          uri: machine.uri,
          dataDir: join(this.dataDir, machine.name),
          clock: new SystemClock(),
          accelerator: () => Promise.resolve('tcg'),
          tinyGuest: () => Promise.resolve(this.image),
          poolPath: options.images?.[i] ?? machine.images,
          peers: (): readonly Backend[] => backends,
          migrationAddress: '127.0.0.1',
        }),
      );
    }
    this.opened.push(...backends);
    return backends as unknown as readonly [LibvirtBackend, LibvirtBackend];
  }

  async stop(): Promise<void> {
    await Promise.all(this.opened.splice(0).map((backend) => backend.close()));
  }

  async close(): Promise<void> {
    await this.stop();
    await Promise.all(this.machines.map((machine) => machine.close()));
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
