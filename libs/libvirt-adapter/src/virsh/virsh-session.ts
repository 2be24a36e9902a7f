import type { ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { quote } from './virsh-words.js';

/** A virsh without a command, which reads its commands from its standard input. */
export type SessionProcess = ChildProcessByStdio<Writable, Readable, Readable>;

export interface SessionOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The session is killed when its commands print more. */
  readonly maxLength: number;
}

/** Why a session ended before its commands: virsh asked for credentials, or ended itself, or was killed. */
export type SessionEnd = 'timeout' | 'aborted' | 'too-much-output' | 'asks' | 'exit';

export interface SessionResult {
  /** What each command printed, until it ended or failed; empty if it was not reached. */
  readonly outputs: readonly string[];
  readonly stderr: string;
  /** Absent when all commands ended. */
  readonly ended?: SessionEnd;
  /** virsh is not installed. */
  readonly missing?: boolean;
}

interface Exchange {
  readonly lines: string;
  /** The last words on standard output and standard error. */
  readonly end: string;
  readonly maxLength: number;
  readonly finish: (ended?: SessionEnd) => void;
}

/** virsh prints it once it is connected, before each line that it reads. */
const PROMPT = 'virsh # ';

/**
 * One virsh process that runs many commands over one connection, one command after another. Starting a process takes 40
 * times as long as running a command.
 *
 * Markers show where an output begins and ends. virsh echoes the lines that it reads, but the words of a marker are
 * quoted there. It ignores a line with a syntax error, so the last markers are on a line of their own.
 */
export class VirshSession {
  private exchange?: Exchange;
  private stdout = '';
  private stderr = '';
  private isConnected = false;
  /** The first output, which is expected before anything else is sent. */
  private readonly connected: string;
  private hasEnded = false;
  private isMissing = false;
  private readonly id = randomUUID();
  private markers = 0;

  constructor(private readonly process: SessionProcess) {
    process.stdout.setEncoding('utf8').on('data', (text: string) => this.receive(text));
    process.stderr.setEncoding('utf8').on('data', (text: string) => this.receiveError(text));
    // A virsh that has ended reads no more commands.
    process.stdin.on('error', () => undefined);
    process.once('error', (error: NodeJS.ErrnoException) => {
      this.isMissing = error.code === 'ENOENT';
      this.end('exit');
    });
    process.once('close', () => this.end('exit'));
    this.connected = this.nextMarker();
    process.stdin.write(`${echo(this.connected)}\n`);
    this.keepsNodeRunning(false);
  }

  /** Whether it can run more commands. */
  get isUsable(): boolean {
    return !this.hasEnded;
  }

  /**
   * Runs the commands, each of them even if the one before fails. They are typeable, see `isTypeable`. Never rejects:
   * the result describes the failure. Only one call at a time.
   */
  run(
    commands: readonly (readonly string[])[],
    { timeoutMs, signal, maxLength }: SessionOptions,
  ): Promise<SessionResult> {
    const marked = commands.map((words) => ({ words, begin: this.nextMarker(), end: this.nextMarker() }));
    const end = this.nextMarker();
    const lines = marked.map((each) => `${echo(each.begin)}; ${each.words.map(quote).join(' ')}; ${echo(each.end)}\n`);
    lines.push(`${echo(end)}; ${echo(end, '--err')}\n`);
    return new Promise((resolve) => {
      const abort = (): void => this.end('aborted');
      const timer = setTimeout(() => this.end('timeout'), timeoutMs);
      const finish = (ended?: SessionEnd): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        const { stdout, stderr, isMissing: missing } = this;
        this.exchange = undefined;
        [this.stdout, this.stderr] = ['', ''];
        this.keepsNodeRunning(false);
        resolve({
          outputs: marked.map((each) => between(stdout, each.begin, each.end)),
          stderr: stderr.replace(errorLine(end), ''),
          ...(ended && { ended, missing }),
        });
      };
      this.exchange = { lines: lines.join(''), end, maxLength, finish };
      this.keepsNodeRunning(true);
      if (this.hasEnded) return finish('exit');
      if (signal?.aborted) return abort();
      signal?.addEventListener('abort', abort, { once: true });
      if (this.isConnected) this.process.stdin.write(this.exchange.lines);
    });
  }

  /** Lets virsh end, which it does at the end of its input. */
  close(): void {
    this.hasEnded = true;
    this.process.stdin.end();
  }

  private receive(text: string): void {
    this.stdout += text;
    if (!this.isConnected) return this.receiveBeginning();
    // The prompt after the last exchange.
    if (!this.exchange) this.stdout = '';
    else if (this.stdout.length > this.exchange.maxLength) this.end('too-much-output');
    else this.finishIfComplete(text.length);
  }

  private receiveBeginning(): void {
    if (this.stdout.includes(this.connected)) {
      this.isConnected = true;
      this.stdout = '';
      if (this.exchange) this.process.stdin.write(this.exchange.lines);
    } else if (![PROMPT, this.connected].some((start) => startAlike(start, this.stdout))) {
      // It would take the commands for a user name and a password.
      this.end('asks');
    }
  }

  private receiveError(text: string): void {
    this.stderr += text;
    if (this.exchange) this.finishIfComplete(0);
    // It reports that libvirt has closed the connection.
    else if (this.isConnected) this.end('exit');
  }

  /** @param received how much of the output is new */
  private finishIfComplete(received: number): void {
    const { end = '', finish } = this.exchange ?? {};
    const isAtEnd = (text: string, length: number): boolean => text.includes(end, Math.max(0, text.length - length));
    // The output may be long, so only its end is searched: the marker, and the prompt behind it.
    const searched = Math.max(received, PROMPT.length) + PROMPT.length + end.length;
    if (this.stderr.includes(errorLine(end)) && isAtEnd(this.stdout, searched)) finish?.();
  }

  private end(reason: SessionEnd): void {
    this.hasEnded = true;
    this.process.kill('SIGKILL');
    this.exchange?.finish(reason);
  }

  /** The point is there so that no marker begins another one. */
  private nextMarker(): string {
    return `${this.id} ${++this.markers}.`;
  }

  /** An idle session does not keep Node from exiting, which ends virsh too. */
  private keepsNodeRunning(isRunning: boolean): void {
    const { stdin, stdout, stderr } = this.process;
    for (const each of [this.process, ...([stdin, stdout, stderr] as unknown as Socket[])]) {
      if (isRunning) each.ref();
      else each.unref();
    }
  }
}

/** The command that prints a marker: two words, separated by one space. */
const echo = (marker: string, ...options: string[]): string =>
  ['echo', ...options, ...marker.split(' ')].map(quote).join(' ');

/** Whether one text begins with the other. */
const startAlike = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);

const errorLine = (marker: string): string => `error: ${marker}\n`;

function between(text: string, begin: string, end: string): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  return from < 0 || to < 0 ? '' : text.slice(from + begin.length, to);
}
