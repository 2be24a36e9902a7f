import { Duplex } from 'node:stream';
import { DomainError, messageOf, type TerminalSize } from '@headgate/domain-contracts';
import type { WebSocket } from 'ws';
import { ExecStatus, type ExecOutcome } from './exec-status.js';

/** Channel numbers of the exec protocol, the first byte of each frame. Source: Kubernetes' remotecommand, v4 and v5. */
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;
export const EXEC_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;

export interface ExecOptions {
  /** The process, in errors. Default: `shell`. */
  readonly subject?: string;
  /** Receives the errors of a process without a terminal. Default: they are a part of its output. */
  readonly onErrors?: (bytes: Buffer) => void;
}

/**
 * The terminal or the output of a process in a pod as a byte stream. It ends without an error when the process ends,
 * with any exit code. It fails with a DomainError when the cluster reports an error or the connection is cut. Either
 * way, the output before that is read first.
 */
export class ExecChannels extends Duplex {
  private readonly status: ExecStatus;
  /** The end of the process, which the server reports before it closes the connection. */
  private reported: ExecOutcome | undefined;
  /** How the session ended. Nothing is received after that. */
  private outcome: ExecOutcome | undefined;

  constructor(
    private readonly socket: WebSocket,
    private readonly options: ExecOptions = {},
  ) {
    super();
    this.status = new ExecStatus(this.subject);
    socket.on('message', (data: Buffer | ArrayBuffer | Buffer[], binary: boolean) => this.receive(data, binary));
    socket.once('close', (code) => this.conclude(this.reported ?? this.status.afterClose(code)));
    socket.once('error', (error) => this.conclude(this.reported ?? connectionFailed(this.subject, error)));
    this.once('end', () => this.destroy(this.outcome?.failure));
    // A program that only writes also needs the report of the server, so reading does not wait for a reader.
    socket.resume();
  }

  /** How the process has ended, as soon as its output ends. */
  get conclusion(): ExecOutcome | undefined {
    return this.outcome;
  }

  resize({ columns, rows }: TerminalSize): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.socket.send(frame(CHANNEL.resize, Buffer.from(JSON.stringify({ Width: columns, Height: rows }))));
  }

  override _read(): void {
    if (this.socket.isPaused) this.socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.outcome) return done(this.outcome.failure);
    // Completes only when the data has left the process, so that a slow server applies back-pressure to the writer.
    this.socket.send(frame(CHANNEL.stdin, chunk), { binary: true }, (error) => {
      if (error) this.afterClose(done);
      else done();
    });
  }

  override _final(done: () => void): void {
    // Version 4 cannot close the input alone.
    if (this.socket.protocol === EXEC_PROTOCOLS[0])
      this.socket.send(Buffer.from([CHANNEL.close, CHANNEL.stdin]), () => done());
    else done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // A closing handshake would wait for an answer that is no longer read. The server ends the process either way.
    this.socket.terminate();
    done(error);
  }

  private receive(data: Buffer | ArrayBuffer | Buffer[], binary: boolean): void {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data);
    if (this.outcome || !binary || bytes.length < 2) return;
    const content = bytes.subarray(1);
    switch (bytes[0]) {
      case CHANNEL.stdout:
        return this.output(content);
      case CHANNEL.stderr:
        return this.options.onErrors ? this.options.onErrors(content) : this.output(content);
      case CHANNEL.error:
        return this.report(content);
    }
  }

  private get subject(): string {
    return this.options.subject ?? 'shell';
  }

  private output(content: Buffer): void {
    if (!this.push(content)) this.socket.pause();
  }

  private report(part: Buffer): void {
    if (this.reported) return;
    this.reported = this.status.add(part);
    // After the end of the process, its last output may follow.
    if (this.reported?.failure) this.conclude(this.reported);
  }

  private conclude(outcome: ExecOutcome): void {
    if (this.outcome) return;
    this.outcome = outcome;
    this.push(null);
  }

  /**
   * The error of a write to a closed connection says less than the report of the server, which may not have been read
   * yet.
   */
  private afterClose(done: (error?: Error | null) => void): void {
    const finish = (): void => done(this.outcome?.failure);
    if (this.outcome) return finish();
    this.socket.once('close', finish);
    this.socket.resume();
  }
}

const connectionFailed = (subject: string, error: Error): ExecOutcome => ({
  failure: new DomainError('BACKEND_FAILED', `The connection to the ${subject} failed: ${messageOf(error)}`, {
    cause: error,
  }),
});

const frame = (channel: number, data: Buffer): Buffer => Buffer.concat([Buffer.from([channel]), data]);
