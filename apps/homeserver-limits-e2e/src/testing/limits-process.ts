import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const MAIN = resolve(import.meta.dirname, '../../../homeserver-limits/dist/main.js');

/** How long a line may take to come over the pipe, in milliseconds. */
const LOG_PATIENCE_MS = 30_000;

interface LogLine {
  msg: string;
  url?: string;
  operator?: string;
}

/** The built application as its own process, on a free port, in a folder that goes with it. */
export class LimitsProcess {
  readonly log: LogLine[] = [];
  url = '';
  operatorUrl = '';
  private child?: ChildProcess;

  private constructor(readonly folder: string) {}

  static async start(toml: string): Promise<LimitsProcess> {
    const limits = await LimitsProcess.prepare(toml);
    await limits.launch();
    return limits;
  }

  static async prepare(toml: string): Promise<LimitsProcess> {
    const limits = new LimitsProcess(await mkdtemp(join(tmpdir(), 'homeserver-limits-')));
    await limits.configure(toml);
    return limits;
  }

  /** Starts, or starts again over the same data. Rejects with what it said when it does not come up. */
  async launch(listen = '127.0.0.1:0', dataDir = join(this.folder, 'data')): Promise<void> {
    const args = [MAIN, '--config', this.configPath, '--listen', listen, '--data-dir', dataDir];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    this.child = child;
    const lines = createInterface({ input: child.stdout });
    const { promise, resolve: up, reject: down } = Promise.withResolvers<LogLine>();
    lines.on('line', (line) => {
      const entry = JSON.parse(line) as LogLine;
      this.log.push(entry);
      if (entry.msg === 'homeserver-limits is listening') up(entry);
    });
    child.once('exit', () => down(new Error(this.log.at(-1)?.msg ?? 'it said nothing')));
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

  configure(toml: string): Promise<void> {
    return writeFile(this.configPath, toml);
  }

  /** Has the configuration read again, and waits for what the server says about it. */
  async reload(): Promise<string> {
    const before = this.log.length;
    this.child?.kill('SIGHUP');
    return (await this.logged(({ msg }) => msg.startsWith('the configuration'), before)).msg;
  }

  /**
   * The first line that matches: lines come over a pipe, a moment after the answer that they belong to.
   * @param from how many lines to pass over
   */
  async logged(matches: (line: LogLine) => boolean, from = 0): Promise<LogLine> {
    const end = Date.now() + LOG_PATIENCE_MS;
    for (;;) {
      const line = this.log.slice(from).find(matches);
      if (line) return line;
      if (Date.now() > end) throw new Error(`no such line; it logged:\n${this.log.map(({ msg }) => msg).join('\n')}`);
      await new Promise((resume) => setImmediate(resume));
    }
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  async dispose(): Promise<void> {
    await this.end('SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }
}
