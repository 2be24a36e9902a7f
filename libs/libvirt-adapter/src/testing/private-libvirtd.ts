import { spawn, type ChildProcess } from 'node:child_process';
import { chown, mkdir, mkdtemp, rm, chmod } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** User and group of the unprivileged system account: its session daemon is separate from the machine's libvirt. */
const UNPRIVILEGED_ID = 65534;

/** A libvirt daemon that belongs to one test, so that it can be killed. Requires root to switch users. */
export class PrivateLibvirtd {
  private child?: ChildProcess;

  private constructor(private readonly folder: string) {}

  static async create(): Promise<PrivateLibvirtd> {
    const folder = await mkdtemp(join(tmpdir(), 'hgtest-libvirtd-'));
    await chmod(folder, 0o755);
    for (const name of ['run', 'home']) {
      await mkdir(join(folder, name));
      await chown(join(folder, name), UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    }
    return new PrivateLibvirtd(folder);
  }

  get uri(): string {
    return `qemu+unix:///session?socket=${this.socket}`;
  }

  async start(): Promise<void> {
    this.child = spawn('libvirtd', [], {
      uid: UNPRIVILEGED_ID,
      gid: UNPRIVILEGED_ID,
      stdio: 'ignore',
      env: { ...process.env, HOME: join(this.folder, 'home'), XDG_RUNTIME_DIR: join(this.folder, 'run') },
    });
    while (!(await this.isListening())) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** Kills the daemon. */
  async kill(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
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

  async remove(): Promise<void> {
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
