import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';

export interface NamespacesOptions {
  readonly hostName: string;
  /** Whether they have a network that only has a loopback device; otherwise they share the machine's. */
  readonly ownNetwork: boolean;
}

/** The shell stays as the first process, which collects the ended processes of all others. */
const FIRST_PROCESS = `
mount -t tmpfs -o mode=755 tmpfs /run && hostname "$1" && ip link set lo up && echo ready || exit 1
while :; do sleep 86400 & wait $!; done`;

const POLL_INTERVAL_MS = 5;

/**
 * Mount, process, host name and network namespaces. Ending a daemon in them does not end them, so that a test may start
 * it again while the other processes continue. When they are closed or this process ends, the kernel ends all
 * processes in them, and removes their mounts. Requires root.
 */
export class Namespaces {
  private constructor(
    private readonly holder: ChildProcess,
    private readonly first: number,
    private readonly ownNetwork: boolean,
  ) {}

  static async open({ hostName, ownNetwork }: NamespacesOptions): Promise<Namespaces> {
    const kinds = ['--mount', '--pid', '--uts', ...(ownNetwork ? ['--net'] : [])];
    const unshare = ['unshare', ...kinds, '--fork', '--kill-child', '--mount-proc'];
    const shell = ['sh', '-c', FIRST_PROCESS, 'sh', hostName];
    const holder = spawn('setpriv', ['--pdeathsig', 'KILL', ...unshare, ...shell], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const failed = once(holder, 'exit').then(([code]) => {
      throw new Error(`The namespaces can't be created: unshare exited with code ${String(code)}.`);
    });
    failed.catch(() => undefined);
    await Promise.race([once(holder.stdout, 'data'), failed]);
    return new Namespaces(holder, await childOf(holder.pid), ownNetwork);
  }

  /**
   * Runs a program in them. Its process is the child of the returned one, which ends with it.
   * @param output the file descriptor of its output
   */
  spawn(command: readonly string[], env: NodeJS.ProcessEnv, output: number): ChildProcess {
    const kinds = ['--mount', '--pid', '--uts', ...(this.ownNetwork ? ['--net'] : [])];
    return spawn('nsenter', ['--target', String(this.first), ...kinds, '--', ...command], {
      stdio: ['ignore', output, output],
      env,
    });
  }

  async close(): Promise<void> {
    if (this.holder.exitCode !== null || this.holder.signalCode !== null) return;
    const exited = once(this.holder, 'exit');
    this.holder.kill('SIGKILL');
    await exited;
    // The kernel has ended all other processes when the first one is gone.
    while (await isProcess(this.first)) await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}

/** Waits for the first child of a process, and returns its ID. */
export async function childOf(pid: number | undefined): Promise<number> {
  for (;;) {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    const child = Number.parseInt(children, 10);
    if (child > 0) return child;
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}

const isProcess = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (stat) => !/\) [ZX] /.test(stat),
    () => false,
  );
