import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { DomainError } from '@headgate/domain-contracts';
import { englishEnvironment, runProgram, type RunProgram } from './run-program.js';
import { Slots } from './concurrency.js';
import { translateFailure } from './virsh-errors.js';

export interface VirshOptions {
  readonly uri: string;
  readonly run?: RunProgram;
  /** Creates the private folders for temporary files; by default in the system's folder for them. */
  readonly createTemporaryFolder?: () => Promise<string>;
  /** Maximum number of concurrent virsh processes. */
  readonly maxConcurrent?: number;
}

export interface CallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** A transfer that may take hours. Transfers wait for each other only, so that they never delay other commands. */
  readonly isTransfer?: boolean;
}

/** A client for one libvirt connection that runs virsh. Arguments never contain secrets, because process lists show them. */
export class Virsh {
  readonly uri: string;
  private readonly program: RunProgram;
  private readonly slots: Slots;
  private readonly transferSlots = new Slots(MAX_TRANSFERS);
  private readonly createTemporaryFolder: () => Promise<string>;

  constructor({ uri, run = runProgram, maxConcurrent = 6, createTemporaryFolder = inSystemFolder }: VirshOptions) {
    this.uri = uri;
    this.createTemporaryFolder = createTemporaryFolder;
    this.program = run;
    this.slots = new Slots(maxConcurrent);
  }

  /**
   * Runs one command.
   * @returns its standard output
   * @throws DomainError, see `translateFailure`
   */
  async run(
    args: readonly string[],
    { timeoutMs = CALL_TIMEOUT_MS, signal, isTransfer = false }: CallOptions = {},
  ): Promise<string> {
    const slots = isTransfer ? this.transferSlots : this.slots;
    const command = () => this.program('virsh', [...this.options(), ...args], { timeoutMs, signal });
    const result = await slots.run(command, signal).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
      throw new DomainError('CONFLICT', 'The operation was canceled.', { cause: error });
    });
    if (result.code !== 0) throw translateFailure('virsh', result);
    return result.stdout;
  }

  /**
   * Runs one command whose arguments contain a secret: virsh reads it from its standard input.
   * @throws DomainError, see `translateFailure`
   */
  async runSecretly(args: readonly string[], { timeoutMs = CALL_TIMEOUT_MS, signal }: CallOptions = {}): Promise<void> {
    const input = `${args.map(quote).join(' ')}\n`;
    const result = await this.slots.run(() => this.program('virsh', this.options(), { timeoutMs, signal, input }));
    // Without a terminal, virsh exits with 0 whatever its commands did.
    if (result.code !== 0 || /^error: /m.test(result.stderr)) {
      throw translateFailure('virsh', { ...result, code: result.code || 1 });
    }
  }

  /**
   * Runs commands one after another over a single connection, because connecting to a remote machine is slow.
   * @returns the output of each command; empty for a failed one
   * @throws DomainError when libvirt can't be reached
   */
  async batch(commands: readonly (readonly string[])[], options: CallOptions = {}): Promise<string[]> {
    const outputs: string[] = [];
    for (let from = 0; from < commands.length; from += MAX_BATCH_COMMANDS) {
      outputs.push(...(await this.script(commands.slice(from, from + MAX_BATCH_COMMANDS), options)));
    }
    return outputs;
  }

  /** Runs a command with an XML document in a temporary file that only this user can read. */
  withXml(xml: string, command: (file: string) => readonly string[], options?: CallOptions): Promise<string> {
    return this.withXmls([xml], ([file = '']) => command(file), options);
  }

  /** The same with several documents. */
  async withXmls(
    xmls: readonly string[],
    command: (files: readonly string[]) => readonly string[],
    options?: CallOptions,
  ): Promise<string> {
    const folder = await this.createTemporaryFolder();
    try {
      const files = xmls.map((_xml, i) => join(folder, `document-${i}.xml`));
      for (const [i, file] of files.entries()) await writeFile(file, xmls[i] ?? '', { mode: 0o600 });
      return await this.run(command(files), options);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Starts a command that runs until it is killed. It does not count toward `maxConcurrent`. */
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
    // A random markerer, so that no domain XML can contain it.
    const marker = `=${randomUUID()}=`;
    const script = commands.map((command) => `${command.map(quote).join(' ')}; echo ${marker}`).join('; ');
    const result = await this.slots.run(() =>
      this.program('virsh', [...this.options(), script], { timeoutMs, signal }),
    );
    const parts = result.stdout.split(marker);
    // Each command prints a markerer even if it fails. A missing markerer means that the connection failed.
    if (result.ended || parts.length <= commands.length || isDisconnected(result.stderr)) {
      throw translateFailure('virsh', result);
    }
    return parts.slice(0, commands.length);
  }

  private options(): string[] {
    return ['--quiet', '--connect', this.uri];
  }
}

const inSystemFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'headgate-xml-'));

/** Maximum number of concurrent transfers. */
const MAX_TRANSFERS = 2;
const CALL_TIMEOUT_MS = 30_000;
/** Linux limits one argument to 128 KiB. */
const MAX_BATCH_COMMANDS = 100;

const isDisconnected = (stderr: string): boolean =>
  /failed to connect to the hypervisor|client socket is closed|due to end of file/.test(stderr);

/** Quotes a word for virsh's own command parser; no shell is involved. */
const quote = (word: string): string => `"${word.replace(/["\\]/g, '\\$&')}"`;
