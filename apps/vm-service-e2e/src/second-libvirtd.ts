import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from './until.js';

/** User and group of the unprivileged account, whose session daemon is separate from the libvirt of the machine. */
const UNPRIVILEGED_ID = 65534;

/** Another libvirt on this machine, with a storage pool of its own. Requires root to switch users. */
export class SecondLibvirtd {
  private constructor(
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(): Promise<SecondLibvirtd> {
    const folder = await mkdtemp(join(tmpdir(), 'hgtest-second-'));
    await chmod(folder, 0o755);
    for (const name of ['run', 'home', 'pool']) {
      await mkdir(join(folder, name));
      await chown(join(folder, name), UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    }
    const child = spawn('libvirtd', [], {
      uid: UNPRIVILEGED_ID,
      gid: UNPRIVILEGED_ID,
      stdio: 'ignore',
      env: { ...process.env, HOME: join(folder, 'home'), XDG_RUNTIME_DIR: join(folder, 'run') },
    });
    const second = new SecondLibvirtd(folder, child);
    await until(
      'the second libvirt listens',
      () => second.isListening(),
      (listens) => listens,
    );
    await second.virsh('pool-define-as', 'headgate', 'dir', '--target', join(folder, 'pool'));
    await second.virsh('pool-start', 'headgate');
    return second;
  }

  get uri(): string {
    return `qemu+unix:///session?socket=${this.socket}`;
  }

  async virsh(...args: string[]): Promise<string> {
    return (await promisify(execFile)('virsh', ['-c', this.uri, '--quiet', ...args])).stdout;
  }

  /** Domains and volumes with the name. */
  async leftoversOf(name: string): Promise<string[]> {
    await this.virsh('pool-refresh', 'headgate');
    const lists = await Promise.all([this.virsh('list', '--all', '--name'), this.virsh('vol-list', 'headgate')]);
    return lists.flatMap((list) => list.split('\n')).filter((line) => line.includes(name));
  }

  async stop(): Promise<void> {
    for (const domain of (await this.virsh('list', '--name').catch(() => '')).split('\n').filter(Boolean))
      await this.virsh('destroy', domain).catch(() => undefined);
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
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
