import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runProgram } from '../program.js';
import type { Environment } from '../terminal/environment.js';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A stream that keeps the written text. */
export class Recorder extends Writable {
  text = '';
  isTTY = false;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    this.emit('text');
    done();
  }

  /** Resolves when the text matches. */
  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) await new Promise((resolve) => this.once('text', resolve));
  }
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly interrupted?: AbortSignal;
  readonly stderr?: Recorder;
  readonly stdout?: Recorder;
  /** Whether there is a user at a terminal. */
  readonly isOnTerminal?: boolean;
}

/** The program with a home folder of its own, in this process. */
export class Cli {
  readonly home = mkdtempSync(join(tmpdir(), 'headgate-cli-'));

  constructor(private readonly env: Readonly<Record<string, string>> = {}) {}

  get configPath(): string {
    return join(this.home, '.config/headgate/config.yaml');
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    const { stdout = new Recorder(), stderr = new Recorder() } = options;
    const code = await runProgram(args, this.environment({ ...options, stdout, stderr }), '1.2.3');
    return { code, stdout: stdout.text, stderr: stderr.text };
  }

  /** A run whose output is JSON. @throws Error with its messages if it fails */
  async json<T>(args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run([...args, '-o', 'json']);
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as T;
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }

  private environment(options: RunOptions & { stdout: Recorder; stderr: Recorder }): Environment {
    const { isOnTerminal = false, stderr } = options;
    if (isOnTerminal) stderr.isTTY = true;
    return {
      env: { ...this.env, ...options.env },
      stdin: Object.assign(Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]), {
        isTTY: isOnTerminal,
      }),
      stdout: options.stdout,
      stderr,
      homeDirectory: this.home,
      command: ['headgate'],
      interrupted: options.interrupted ?? new AbortController().signal,
    };
  }
}
