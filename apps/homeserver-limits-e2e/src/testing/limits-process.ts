import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { call } from './http-client.js';

const MAIN = resolve(import.meta.dirname, '../../../homeserver-limits/dist/main.js');

/** How long a log line may take to arrive over the pipe, in milliseconds. */
const LOG_TIMEOUT_MS = 120_000;

interface LogLine {
  msg: string;
  url?: string;
  operator?: string;
}

/** The built application as a process of its own, on a free port, with a temporary folder. */
export class LimitsProcess {
  readonly log: LogLine[] = [];
  /** The log as it was written. */
  readonly lines: string[] = [];
  url = '';
  operatorUrl = '';
  private child?: ChildProcess;
  private command: readonly string[] = [];

  private constructor(readonly folder: string) {}

  /** @param command runs the program of its remaining arguments, such as that of a `MemoryGroup` */
  static async start(toml: string, command: readonly string[] = []): Promise<LimitsProcess> {
    const limits = await LimitsProcess.prepare(toml);
    limits.command = command;
    try {
      await limits.launch();
      return limits;
    } catch (error) {
      await limits.dispose();
      throw error;
    }
  }

  static async prepare(toml: string): Promise<LimitsProcess> {
    const limits = new LimitsProcess(await mkdtemp(join(tmpdir(), 'homeserver-limits-')));
    await limits.configure(toml);
    return limits;
  }

  /** Starts, or starts again over the same data. Rejects with its last log message when it does not start. */
  async launch(listen = '127.0.0.1:0', dataDir = join(this.folder, 'data')): Promise<void> {
    const args = [MAIN, '--config', this.configPath, '--listen', listen, '--data-dir', dataDir];
    const [program = '', ...rest] = [...this.command, process.execPath, ...args];
    const child = spawn(program, rest, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    this.child = child;
    const lines = createInterface({ input: child.stdout });
    const { promise, resolve: onListening, reject: onExit } = Promise.withResolvers<LogLine>();
    lines.on('line', (line) => {
      this.lines.push(line);
      const entry = JSON.parse(line) as LogLine;
      this.log.push(entry);
      if (entry.msg === 'homeserver-limits is listening') onListening(entry);
    });
    child.once('exit', () => onExit(new Error(this.log.at(-1)?.msg ?? 'it logged nothing')));
    const { url = '', operator = '' } = await promise;
    this.url = url;
    this.operatorUrl = operator;
  }

  get configPath(): string {
    return join(this.folder, 'limits.toml');
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  get exitCode(): number | null {
    return this.child?.exitCode ?? null;
  }

  /** The process IDs of its workers. */
  get workers(): number[] {
    const children = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  }

  /** Whether the process has not ended. */
  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  configure(toml: string): Promise<void> {
    return writeFile(this.configPath, toml);
  }

  /** Reloads the configuration. @returns the log message about it */
  async reload(): Promise<string> {
    const before = this.log.length;
    this.child?.kill('SIGHUP');
    return (await this.logged(({ msg }) => msg.startsWith('the configuration'), before)).msg;
  }

  /**
   * The first line that matches. Lines arrive over a pipe, shortly after the response that they belong to.
   * @param from how many lines to skip
   */
  async logged(matches: (line: LogLine) => boolean, from = 0): Promise<LogLine> {
    const end = Date.now() + LOG_TIMEOUT_MS;
    for (;;) {
      const line = this.log.slice(from).find(matches);
      if (line) return line;
      if (Date.now() > end) throw new Error(`no such line; it logged:\n${this.log.map(({ msg }) => msg).join('\n')}`);
      await setImmediate();
    }
  }

  /**
   * Resolves when the shared windows decide: a start on a busy machine may end before the connection is open.
   * @param url the listener with the metrics
   */
  async untilShared(url = this.operatorUrl || this.url): Promise<void> {
    const metrics = async () => (await call(url, 'GET', '/metrics')).bytes.toString();
    while (!(await metrics()).includes('limits_windows_are_shared 1\n')) await setImmediate();
  }

  /** Resolves when the process and its workers have ended: these hold its log, its files and its ports until then. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.child;
    if (!child || !this.isRunning) return;
    child.kill(signal);
    await once(child, 'close');
  }

  async dispose(): Promise<void> {
    await this.end('SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }
}
