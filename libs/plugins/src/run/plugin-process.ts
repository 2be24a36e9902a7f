import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { DomainError, plainText, type Clock } from '@headgate/domain-contracts';
import { MAX_MESSAGE_BYTES } from '@headgate/plugin-sdk';
import { ErrorLog } from './error-log.js';
import type { SandboxedCommand } from './sandboxed-command.js';

export interface PluginProcessOptions {
  /** For errors. */
  readonly name: string;
  readonly command: SandboxedCommand;
  readonly workFolder: string;
  readonly clock: Clock;
}

interface Call {
  resolve(result: unknown): void;
  reject(error: DomainError): void;
  cancelTimeout(): void;
}

/** A plugin that writes more to standard error is ended: it would keep a processor busy. */
const MAX_ERROR_OUTPUT_BYTES = 16 * 1024 ** 2;
/** How long a plugin may take to exit once its input has ended. */
const EXIT_TIMEOUT_MS = 2000;

/**
 * The process of a plugin. Requests and responses are lines of JSON. Anything that breaks the protocol ends the process
 * and fails its calls: a line that is not a response, one that is too large, a response that is late, and an exit.
 */
export class PluginProcess {
  /** Resolves with the reason when the process has exited. */
  readonly ended: Promise<string>;
  readonly log = new ErrorLog();
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly calls = new Map<number, Call>();
  private lastId = 0;
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  private failure: string | undefined;

  constructor(private readonly options: PluginProcessOptions) {
    const { program, args, env } = options.command;
    // A process group of its own, so that its descendants are ended with it.
    this.child = spawn(program, [...args], { cwd: options.workFolder, env, detached: true, stdio: 'pipe' });
    this.child.stdout.on('data', (chunk: Buffer) => this.read(chunk));
    this.child.stderr.on('data', (chunk: Buffer) => {
      this.log.append(chunk);
      if (this.log.writtenBytes > MAX_ERROR_OUTPUT_BYTES) this.fail('wrote too much to standard error');
    });
    // A write to a process that has just ended; its exit is reported.
    this.child.stdin.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error) => resolve(this.end(`could not be started (${error.message})`)));
      this.child.once('close', (code, signal) =>
        resolve(this.end(code === null ? `was ended by ${signal}` : `exited with status ${code}`)),
      );
    });
  }

  get isRunning(): boolean {
    return this.failure === undefined;
  }

  /** @throws DomainError PLUGIN_FAILED */
  call(method: string, params: unknown, timeoutMs: number): Promise<unknown> {
    const { name, clock } = this.options;
    if (this.failure !== undefined) return Promise.reject(this.error(this.failure));
    const id = ++this.lastId;
    const line = `${JSON.stringify({ id, method, params })}\n`;
    if (Buffer.byteLength(line) > MAX_MESSAGE_BYTES)
      return Promise.reject(new DomainError('INVALID_INPUT', `The request to the plugin ${name} is too large.`));
    return new Promise((resolve, reject) => {
      const cancelTimeout = clock.after(timeoutMs, () =>
        this.fail(`did not answer "${method}" within ${timeoutMs / 1000} s`),
      );
      this.calls.set(id, { resolve, reject, cancelTimeout });
      this.child.stdin.write(line);
    });
  }

  /** Asks the process to exit, and ends it if it does not. */
  async stop(): Promise<void> {
    this.child.stdin.end();
    const cancel = this.options.clock.after(EXIT_TIMEOUT_MS, () => this.fail('did not exit'));
    await this.ended;
    cancel();
  }

  /** Ends the process immediately. */
  kill(reason: string): void {
    this.fail(reason);
  }

  private read(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0 && this.isRunning; end = rest.indexOf(10)) {
      this.hold(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      const line = Buffer.concat(this.pending).toString('utf8');
      this.pending = [];
      this.pendingBytes = 0;
      if (this.isRunning) this.receive(line);
    }
    this.hold(rest);
  }

  private hold(part: Buffer): void {
    if (!this.isRunning) return;
    this.pending.push(part);
    this.pendingBytes += part.length;
    if (this.pendingBytes <= MAX_MESSAGE_BYTES) return;
    this.pending = [];
    this.fail(`sent a message of more than ${MAX_MESSAGE_BYTES} bytes`);
  }

  private receive(line: string): void {
    const response = parseResponse(line);
    const call = response && this.calls.get(response.id);
    if (!response || !call) return this.fail(`sent a line that is not a response: ${printable(line)}`);
    this.calls.delete(response.id);
    call.cancelTimeout();
    if (response.error === undefined) call.resolve(response.result);
    else
      call.reject(
        new DomainError('PLUGIN_FAILED', `The plugin ${this.options.name} reports: ${printable(response.error)}`),
      );
  }

  private fail(reason: string): void {
    if (this.failure !== undefined) return;
    this.failure = reason;
    this.killGroup();
    this.rejectCalls(reason);
  }

  private end(reason: string): string {
    // A descendant may have closed the pipes and stayed.
    this.killGroup();
    this.failure ??= reason;
    this.rejectCalls(this.failure);
    return this.failure;
  }

  private rejectCalls(reason: string): void {
    for (const call of this.calls.values()) {
      call.cancelTimeout();
      call.reject(this.error(reason));
    }
    this.calls.clear();
  }

  private error(reason: string): DomainError {
    const line = this.log.lastLine();
    const cause = line === '' ? '' : ` Its log ends with: ${line}`;
    return new DomainError('PLUGIN_FAILED', `The plugin ${this.options.name} ${reason}.${cause}`);
  }

  private killGroup(): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group has ended.
    }
  }
}

interface Response {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

function parseResponse(line: string): Response | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, error } = value as Record<string, unknown>;
  if (typeof id !== 'number' || !('result' in value === (error === undefined))) return undefined;
  return error === undefined || typeof error === 'string' ? (value as Response) : undefined;
}

/** Text of a plugin for an error or a log. */
const printable = (text: string): string => plainText(text, 300);
