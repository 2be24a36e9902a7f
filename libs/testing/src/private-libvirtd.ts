import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** User and group of the unprivileged system account, whose session daemon is separate from the machine's libvirt. */
const UNPRIVILEGED_ID = 65534;
const FOLDERS = ['run', 'config', 'config/libvirt', 'cache', 'images'];
const POLL_INTERVAL_MS = 20;

/**
 * A libvirt daemon that belongs to one test. It has a host name and a machine UUID of its own, as the libvirt of a
 * second machine would have, because libvirt refuses to migrate a guest to the machine on which it runs. Requires root
 * to switch users and to create a namespace.
 */
export class PrivateLibvirtd {
  private child?: ChildProcess;

  private constructor(
    readonly name: string,
    private readonly folder: string,
    private readonly hasNetwork: boolean,
  ) {}

  /**
   * @param name its host name
   * @param settings more lines for qemu.conf
   * @param network lines for libvirtd.conf with which it also listens on the network
   */
  static async create(name = 'private', settings = '', network?: string): Promise<PrivateLibvirtd> {
    // A short path, whatever TMPDIR is: those of the guests' sockets are limited to 107 characters.
    const folder = await mkdtemp('/tmp/hgl-');
    await chmod(folder, 0o755);
    for (const child of FOLDERS) await mkdir(join(folder, child));
    await writeFile(join(folder, 'config/libvirt/libvirtd.conf'), `host_uuid = "${randomUUID()}"\n${network ?? ''}`);
    // Without virtlogd, which would be started on demand and outlive the test.
    await writeFile(join(folder, 'config/libvirt/qemu.conf'), `stdio_handler = "file"\n${settings}`);
    for (const child of FOLDERS) await chown(join(folder, child), UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    return new PrivateLibvirtd(name, folder, network !== undefined);
  }

  get uri(): string {
    return `qemu+unix:///session?socket=${this.socket}`;
  }

  /** A folder for a storage pool. */
  get images(): string {
    return join(this.folder, 'images');
  }

  /** The process IDs of the QEMUs of its guests. */
  async guests(): Promise<number[]> {
    const pids: number[] = [];
    for (const entry of await readdir('/proc')) {
      if (!/^\d+$/.test(entry)) continue;
      const command = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '');
      const [program = ''] = command.split('\0');
      if (/qemu-system/.test(program) && command.includes(`${this.folder}/`)) pids.push(Number(entry));
    }
    return pids;
  }

  /** Starts the daemon, and waits until it listens. Guests that were running when it was killed continue. */
  async start(): Promise<void> {
    const user = ['--reuid', UNPRIVILEGED_ID, '--regid', UNPRIVILEGED_ID, '--clear-groups', '--pdeathsig', 'KILL'];
    const daemon = `hostname ${this.name} && exec setpriv ${user.join(' ')} libvirtd${this.hasNetwork ? ' --listen' : ''}`;
    const child = spawn('unshare', ['--uts', 'sh', '-c', daemon], {
      stdio: 'ignore',
      env: {
        ...process.env,
        HOME: this.folder,
        XDG_RUNTIME_DIR: join(this.folder, 'run'),
        XDG_CONFIG_HOME: join(this.folder, 'config'),
        XDG_CACHE_HOME: join(this.folder, 'cache'),
      },
    });
    this.child = child;
    while (!(await this.answers())) {
      if (child.exitCode !== null) throw new Error(`libvirtd exited with code ${child.exitCode}.`);
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
    // A service that is root reads no disks that the daemon of another user names, and the tests run the service as
    // root.
    await chown(this.socket, process.geteuid?.() ?? UNPRIVILEGED_ID, UNPRIVILEGED_ID);
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** Suspends the daemon: it accepts connections and does not respond until `thaw()`. */
  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  /** @returns the output of a virsh command */
  async virsh(...args: string[]): Promise<string> {
    return (await promisify(execFile)('virsh', ['-c', this.uri, '--quiet', ...args])).stdout;
  }

  async domains(): Promise<string[]> {
    return (await this.virsh('list', '--all', '--name')).split('\n').filter((name) => name.trim() !== '');
  }

  /** The volumes in the pool `headgate`, if there is one. */
  async volumes(): Promise<string[]> {
    await this.virsh('pool-refresh', 'headgate').catch(() => '');
    const list = await this.virsh('vol-list', 'headgate').catch(() => '');
    return [...list.matchAll(/^\s*(\S+)\s+\//gm)].map(([, name = '']) => name);
  }

  /** Ends the guests and the daemon, and removes its files. */
  async close(): Promise<void> {
    for (const name of await this.domains().catch(() => [])) await this.virsh('destroy', name).catch(() => '');
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  private get socket(): string {
    return join(this.folder, 'run', 'libvirt', 'libvirt-sock');
  }

  private answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.socket, () => resolve(true)).on('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  }
}
