import { spawn, type ChildProcess } from 'node:child_process';
import { chown, mkdir, mkdtemp, rm, chmod } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The user `nobody`: a daemon of an ordinary user keeps away from the machine's own libvirt. */
const NOBODY = 65534;

/** A libvirt daemon that only one test knows, so that it may be killed. Needs root to become somebody else. */
export class PrivateLibvirtd {
  private child?: ChildProcess;

  private constructor(private readonly folder: string) {}

  static async create(): Promise<PrivateLibvirtd> {
    const folder = await mkdtemp(join(tmpdir(), 'hgtest-libvirtd-'));
    await chmod(folder, 0o755);
    for (const name of ['run', 'home']) {
      await mkdir(join(folder, name));
      await chown(join(folder, name), NOBODY, NOBODY);
    }
    return new PrivateLibvirtd(folder);
  }

  get uri(): string {
    return `qemu+unix:///session?socket=${this.socket}`;
  }

  async start(): Promise<void> {
    this.child = spawn('libvirtd', [], {
      uid: NOBODY,
      gid: NOBODY,
      stdio: 'ignore',
      env: { ...process.env, HOME: join(this.folder, 'home'), XDG_RUNTIME_DIR: join(this.folder, 'run') },
    });
    while (!(await this.answers())) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** Pulls its plug. */
  async kill(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }

  /** It takes connections and answers nothing, until it is thawed. */
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

  private answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.socket, () => resolve(true)).on('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  }
}
