import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { DomainError } from '@headgate/domain-contracts';
import { Slots } from '../locks/concurrency.js';
import {
  englishEnvironment,
  runProgram,
  type ProgramResult,
  type RunOptions,
  type RunProgram,
} from '../programs/run-program.js';
import { isDisconnected, translateFailure } from '../programs/translate-failure.js';
import { spawnVirshSession } from './spawn-virsh-session.js';
import type { SessionProcess, SessionResult } from './virsh-session.js';
import { VirshSessions } from './virsh-sessions.js';
import { isTypeable, quote } from './virsh-words.js';

export interface VirshOptions {
  readonly uri: string;
  /**
   * Runs a virsh for each command; for tests. Without it, only commands that sessions can't run have a virsh of their
   * own.
   */
  readonly run?: RunProgram;
  /** Starts a virsh that reads its commands. */
  readonly spawnSession?: () => SessionProcess;
  /** Creates the private folders for temporary files; by default in the system's folder for them. */
  readonly createTemporaryFolder?: () => Promise<string>;
  /** Maximum number of concurrent commands. */
  readonly maxConcurrent?: number;
}

export interface CallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** A transfer that may take hours. Transfers wait for each other only, so that they never delay other commands. */
  readonly isTransfer?: boolean;
}

/**
 * A client for one libvirt connection that runs virsh. Arguments never contain secrets, because process lists show
 * them.
 */
export class Virsh {
  readonly uri: string;
  private readonly program: RunProgram;
  private readonly slots: Slots;
  private readonly transferSlots = new Slots(MAX_TRANSFERS);
  private readonly createTemporaryFolder: () => Promise<string>;
  private readonly sessions: VirshSessions;
  /** Whether usual commands run in sessions. */
  private usesSessions: boolean;

  constructor(options: VirshOptions) {
    const { uri, run, spawnSession, maxConcurrent = 6, createTemporaryFolder = inSystemFolder } = options;
    this.uri = uri;
    this.createTemporaryFolder = createTemporaryFolder;
    this.program = run ?? runProgram;
    this.slots = new Slots(maxConcurrent);
    this.sessions = new VirshSessions(spawnSession ?? (() => spawnVirshSession(this.options())));
    // virsh starts the daemon of a user's session if needed, which inherits the environment.
    this.usesSessions = run === undefined && !/\/session$/.test(uri);
  }

  /** Ends the virsh processes that wait for commands. */
  close(): void {
    this.sessions.close();
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
    const options = { timeoutMs, signal };
    const command = async (): Promise<ProgramResult> =>
      (!isTransfer && (await this.runInSession([args], options))) ||
      (await this.program('virsh', [...this.options(), ...args], options));
    const result = await slots.run(command, signal).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
      throw new DomainError('CONFLICT', 'The operation was canceled.', { cause: error });
    });
    if (result.code !== 0) throw translateFailure('virsh', result);
    return result.stdout;
  }

  /**
   * Runs one command whose arguments contain a secret: virsh reads it from its standard input.
   * @throws DomainError, see `translateFailure`; INVALID_INPUT if they are not typeable, see `isTypeable`
   */
  async runSecretly(args: readonly string[], { timeoutMs = CALL_TIMEOUT_MS, signal }: CallOptions = {}): Promise<void> {
    if (!isTypeable(args)) {
      throw new DomainError(
        'INVALID_INPUT',
        'Control characters such as tabs, and more than 800 characters, are not possible through virsh.',
      );
    }
    const options = { timeoutMs, signal, maxLength: MAX_OUTPUT_LENGTH };
    const result = toProgramResult(await this.slots.run(() => this.sessions.run([args], options)));
    if (result.code !== 0) throw translateFailure('virsh', result);
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
  ): Promise<readonly string[]> {
    const options = { timeoutMs, signal };
    const { outputs, ...result } = await this.slots.run(
      async () => (await this.runInSession(commands, options)) ?? (await this.runInOneProcess(commands, options)),
    );
    if (result.ended || outputs.length < commands.length || isDisconnected(result.stderr)) {
      throw translateFailure('virsh', result);
    }
    return outputs;
  }

  /** @returns undefined if the commands can't run in a session */
  private async runInSession(
    commands: readonly (readonly string[])[],
    options: RunOptions,
  ): Promise<BatchResult | undefined> {
    if (!this.usesSessions || !commands.every(isTypeable)) return undefined;
    const result = await this.sessions.run(commands, { ...options, maxLength: MAX_OUTPUT_LENGTH });
    if (result.ended === 'asks') {
      this.usesSessions = false;
      return undefined;
    }
    return { ...toProgramResult(result), outputs: result.ended ? [] : result.outputs };
  }

  private async runInOneProcess(commands: readonly (readonly string[])[], options: RunOptions): Promise<BatchResult> {
    // A random marker, so that no domain XML can contain it. A failed command is followed by one too, unless the
    // connection failed.
    const marker = `=${randomUUID()}=`;
    const script = commands.map((command) => `${command.map(quote).join(' ')}; echo ${marker}`).join('; ');
    const result = await this.program('virsh', [...this.options(), script], options);
    return { ...result, outputs: result.stdout.split(marker).slice(0, -1) };
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
const MAX_OUTPUT_LENGTH = 64 * 1024 ** 2;

interface BatchResult extends ProgramResult {
  /** Those of all commands that were reached. */
  readonly outputs: readonly string[];
}

/** The result of a session as that of a virsh that ran one command. A session has no exit code for each command. */
function toProgramResult({ outputs, stderr, ended, missing }: SessionResult): ProgramResult {
  const result = { stdout: outputs[0] ?? '', stderr, missing };
  if (ended === undefined) return { ...result, code: /^error: /m.test(stderr) ? 1 : 0 };
  return ended === 'exit' || ended === 'asks' ? { ...result, code: 1 } : { ...result, code: null, ended };
}
