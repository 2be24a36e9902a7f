import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { englishEnvironment, runProgram, type RunProgram } from './run-program.js';
import { Slots } from './slots.js';
import { translateFailure } from './virsh-errors.js';

export interface VirshOptions {
  readonly uri: string;
  readonly run?: RunProgram;
  /** How many virsh run at once. */
  readonly atOnce?: number;
}

export interface CallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** One connection to libvirt, by its own command line client. No argument ever carries a secret: a process list shows them. */
export class Virsh {
  readonly uri: string;
  private readonly program: RunProgram;
  private readonly slots: Slots;

  constructor({ uri, run = runProgram, atOnce = 6 }: VirshOptions) {
    this.uri = uri;
    this.program = run;
    this.slots = new Slots(atOnce);
  }

  /**
   * Runs one command.
   * @returns what it printed
   * @throws DomainError as `translateFailure` reads it
   */
  async run(args: readonly string[], { timeoutMs = CALL_TIMEOUT_MS, signal }: CallOptions = {}): Promise<string> {
    const result = await this.slots.run(() =>
      this.program('virsh', [...this.options(), ...args], { timeoutMs, signal }),
    );
    if (result.code !== 0) throw translateFailure('virsh', result);
    return result.stdout;
  }

  /**
   * Runs commands one after another over one connection, which is what costs time on a remote machine.
   * @returns what each printed; empty for one that failed
   * @throws DomainError when libvirt can't be reached
   */
  async batch(commands: readonly (readonly string[])[], options: CallOptions = {}): Promise<string[]> {
    const outputs: string[] = [];
    for (let from = 0; from < commands.length; from += BATCH_SIZE) {
      outputs.push(...(await this.script(commands.slice(from, from + BATCH_SIZE), options)));
    }
    return outputs;
  }

  /** Runs a command that reads an XML document from a file, which only this user can read. */
  async withXml(xml: string, command: (file: string) => readonly string[], options?: CallOptions): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'headgate-xml-'));
    try {
      const file = join(folder, 'document.xml');
      await writeFile(file, xml, { mode: 0o600 });
      return await this.run(command(file), options);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Starts a command that goes on until it is killed. Not counted among those that run at once. */
  follow(args: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
    const keepAlive = ['--keepalive-interval', '2', '--keepalive-count', '2'];
    return spawn('virsh', [...this.options(), ...keepAlive, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: englishEnvironment(),
    });
  }

  private async script(
    commands: readonly (readonly string[])[],
    { timeoutMs = CALL_TIMEOUT_MS, signal }: CallOptions,
  ): Promise<string[]> {
    // A new mark each time: nothing that a domain's description says can pass for one.
    const mark = `=${randomUUID()}=`;
    const script = commands.map((command) => `${command.map(quote).join(' ')}; echo ${mark}`).join('; ');
    const result = await this.slots.run(() =>
      this.program('virsh', [...this.options(), script], { timeoutMs, signal }),
    );
    const parts = result.stdout.split(mark);
    // One mark for each command, whether or not it failed: fewer tell of a connection that was never there, or broke.
    if (result.ended || parts.length <= commands.length || isDisconnected(result.stderr)) {
      throw translateFailure('virsh', result);
    }
    return parts.slice(0, commands.length);
  }

  private options(): string[] {
    return ['--quiet', '--connect', this.uri];
  }
}

const CALL_TIMEOUT_MS = 30_000;
/** Linux takes at most 128 KiB in one argument. */
const BATCH_SIZE = 100;

const isDisconnected = (stderr: string): boolean =>
  /failed to connect to the hypervisor|client socket is closed|due to end of file/.test(stderr);

/** One word of virsh's own command parser: no shell reads it. */
const quote = (word: string): string => `"${word.replace(/["\\]/g, '\\$&')}"`;
