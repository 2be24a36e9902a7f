import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WAIT_TIMEOUT_MS } from './until.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const program = join(root, 'apps/cli/dist/headgate.js');

/** Runs a program on a terminal of its own, whose input and output are those of this one. */
const ON_TERMINAL = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built command line, with a home folder of its own. */
export class HeadgateProgram {
  readonly home = mkdtempSync(join(tmpdir(), 'headgate-home-'));
  private readonly terminals: ChildProcess[] = [];

  private constructor(private readonly url: string) {}

  /** Builds the program unless it is built. @param url of the service */
  static async build(url: string): Promise<HeadgateProgram> {
    const workspace = JSON.stringify(join(root, 'tools/start/workspace.mjs'));
    const script = `import { ensureBuilt } from ${workspace}; await ensureBuilt(['@headgate/cli']);`;
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('NX_') && name !== 'NODE_OPTIONS'),
    );
    await run(process.execPath, ['--input-type=module', '-e', script], { cwd: root, env });
    return new HeadgateProgram(url);
  }

  async run(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
    const options = { env: { ...this.environment, ...env }, maxBuffer: 64 * 1024 * 1024, timeout: WAIT_TIMEOUT_MS };
    return run(process.execPath, [program, ...args], options).then(
      (output) => ({ code: 0, ...output }),
      ({ code, stdout, stderr }: Outcome) => ({ code, stdout, stderr }),
    );
  }

  /** A run whose output is JSON. @throws Error with its messages when it fails */
  async json<T>(args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run([...args, '-o', 'json']);
    if (code !== 0) throw new Error(`headgate ${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** Starts the program on a terminal, or only with pipes. */
  start(args: readonly string[], { onTerminal = false } = {}) {
    const command = onTerminal ? ['python3', '-c', ON_TERMINAL, process.execPath] : [process.execPath];
    const child = spawn(command[0]!, [...command.slice(1), program, ...args], { env: this.environment, stdio: 'pipe' });
    this.terminals.push(child);
    let seen = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        seen += text;
        child.emit('seen');
      });
    const ended = once(child, 'close').then(([code]) => Number(code));
    /** Waits until the output since the last call matches, and drops it. */
    const expect = async (pattern: RegExp): Promise<string> => {
      const signal = AbortSignal.timeout(WAIT_TIMEOUT_MS);
      while (!pattern.test(seen))
        await once(child, 'seen', { signal }).catch((cause: unknown) => {
          throw new Error(`waited for ${String(pattern)}; the program shows:\n${seen}`, { cause });
        });
      const text = seen;
      seen = '';
      return text;
    };
    return { child, ended, expect, type: (text: string) => child.stdin.write(text) };
  }

  /** How another program starts this one. */
  commandOf(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const { PATH = '', HOME, HEADGATE_SERVER } = this.environment;
    return { command: process.execPath, args: [program, ...args], env: { PATH, HOME, HEADGATE_SERVER, ...env } };
  }

  remove(): void {
    for (const child of this.terminals) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    rmSync(this.home, { recursive: true, force: true });
  }

  private get environment() {
    return { PATH: process.env['PATH'], HOME: this.home, HEADGATE_SERVER: this.url };
  }
}
