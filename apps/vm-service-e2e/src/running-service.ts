import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeBaseImages } from './leftovers.js';

const root = join(import.meta.dirname, '../../..');

/** Without these variables a nested Nx run would act as a task of the outer one. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('NX_') && name !== 'NODE_OPTIONS'),
  );

/** The service as a user starts it: `npm start -- ARGS`, in its own process. */
export class RunningService {
  said = '';
  private readonly exited: Promise<number>;

  private constructor(
    private readonly child: ChildProcess,
    readonly dataDir: string,
  ) {
    child.stdout?.on('data', (data: Buffer) => (this.said += String(data)));
    child.stderr?.on('data', (data: Buffer) => (this.said += String(data)));
    this.exited = once(child, 'close').then(([code]) => Number(code));
  }

  /** Resolves when it prints its URL. @throws Error with its output when it exits first */
  static async start(
    args: readonly string[],
    { dataDir, env = {} }: { dataDir?: string; env?: Record<string, string> } = {},
  ): Promise<RunningService> {
    const service = RunningService.spawn(args, dataDir ?? mkdtempSync(join(tmpdir(), 'headgate-e2e-')), env);
    const ended = service.exited.then((code) => {
      throw new Error(`the service ended with ${code} before it served:\n${service.said}`);
    });
    await Promise.race([service.hasSaid(/Headgate serves (\S+)/), ended]);
    ended.catch(() => undefined);
    return service;
  }

  /** Starts it through npm, as its documentation says. */
  static async startWithNpm(args: readonly string[]): Promise<RunningService> {
    const dataDir = mkdtempSync(join(tmpdir(), 'headgate-e2e-'));
    const options = [...args, '--listen', '127.0.0.1:0', '--data-dir', dataDir];
    const service = RunningService.run('npm', ['start', '--', ...options], dataDir, {});
    await service.hasSaid(/Headgate serves (\S+)/);
    return service;
  }

  /** Runs it until it exits on its own, as a failed start does. */
  static async runToEnd(args: readonly string[], dataDir?: string): Promise<{ code: number; said: string }> {
    const service = RunningService.spawn(args, dataDir ?? mkdtempSync(join(tmpdir(), 'headgate-e2e-')), {});
    const code = await service.exited;
    if (dataDir === undefined) service.forget();
    return { code, said: service.said };
  }

  private static spawn(args: readonly string[], dataDir: string, env: Record<string, string>): RunningService {
    const script = join(root, 'tools/start/start.mjs');
    const listen = args.includes('--listen') ? [] : ['--listen', '127.0.0.1:0'];
    return RunningService.run(process.execPath, [script, ...args, ...listen, '--data-dir', dataDir], dataDir, env);
  }

  private static run(
    command: string,
    args: readonly string[],
    dataDir: string,
    env: Record<string, string>,
  ): RunningService {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...cleanEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new RunningService(child, dataDir);
  }

  get url(): string {
    return /Headgate serves (\S+)/.exec(this.said)?.[1] ?? '';
  }

  get socketUrl(): string {
    return this.url.replace('http:', 'ws:');
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Sends Ctrl-C as a terminal does. @returns the exit code */
  async interrupt(): Promise<number> {
    this.child.kill('SIGINT');
    return this.exited;
  }

  /** Sends SIGTERM to the started command, as a service manager does. @returns when it has exited */
  async terminate(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.exited;
  }

  /** Removes its data. */
  forget(): void {
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null) await this.interrupt();
    await removeBaseImages(this.dataDir);
    this.forget();
  }

  private async hasSaid(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.said)) await once(this.child.stdout!, 'data');
  }
}
