import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, untilAccepting } from './ports.js';

export interface ProxySetup {
  readonly program: string;
  /** @param config the path of its configuration */
  readonly args: (config: string, folder: string) => readonly string[];
  readonly config: (port: number, folder: string) => string;
  /** The port of a configuration that has several; a free one when left out. */
  readonly port?: number;
  /** Its other ports: a proxy may open one after the other. */
  readonly morePorts?: readonly number[];
}

/** Whether a program can be started. Each of these prints its version with another option. */
export const isInstalled = (program: string): boolean =>
  spawnSync(program, ['-v'], { stdio: 'ignore' }).error === undefined;

/** A reverse proxy that runs as a program, in a folder of its own. */
export class ProxyProgram {
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    readonly port: number,
  ) {}

  static async start({ program, args, config, morePorts = [], ...given }: ProxySetup): Promise<ProxyProgram> {
    const folder = await mkdtemp(join(tmpdir(), 'limits-e2e-proxy-'));
    const port = given.port ?? (await freePort());
    const file = join(folder, 'proxy.conf');
    await writeFile(file, config(port, folder));
    const process = spawn(program, args(file, folder), {
      stdio: 'ignore',
      env: { ...globalThis.process.env, HOME: folder },
    });
    const proxy = new ProxyProgram(process, folder, port);
    for (const one of [port, ...morePorts]) await untilAccepting(one, process);
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async dispose(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const exited = once(this.process, 'exit');
      this.process.kill('SIGTERM');
      await exited;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}
