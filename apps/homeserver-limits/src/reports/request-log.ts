import { closeSync, openSync } from 'node:fs';
import type { RequestOutcome, RequestRecorder, RuleFacts } from '@headgate/limit-rules';
import type { OnApplicationShutdown } from '@nestjs/common';
import { ConfigError } from '@headgate/nest-kit';
import { type Logger, pino } from 'pino';

/** Lines are written together when they have this length. */
const BUFFER_BYTES = 8 * 1024;
/** Beyond this, lines are dropped: a disk that hangs must not fill the memory. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Lines are written no later than this. */
const FLUSH_MS = 1_000;

/** How long the shutdown waits for the disk. */
const CLOSE_TIMEOUT_MS = 2_000;

/** It has addresses and user IDs: only the service's own account may read it. */
const FILE_MODE = 0o600;

/** The file that lines are appended to, without waiting for the disk. */
type Destination = ReturnType<typeof pino.destination>;

/**
 * The facts of each request that rules could count, as JSON lines: the first line of a request has its facts and the
 * rule that refused it, the second one its outcome. `replay` reads them. No line contains a token, a password or the
 * content of a request.
 */
export class RequestLog implements RequestRecorder, OnApplicationShutdown {
  private last = 0;
  private hasFailed = false;
  private readonly timer: NodeJS.Timeout;

  private constructor(
    private readonly destination: Destination,
    private readonly log: Pick<Logger, 'error'>,
    private readonly now: () => number,
  ) {
    destination.on('error', (error: unknown) => this.fail(error));
    this.timer = setInterval(() => this.flush(), FLUSH_MS).unref();
    // Requests before this line have no outcome anymore.
    this.write({ t: this.now(), started: true });
  }

  /** @throws ConfigError when the file can't be written */
  static open(path: string, log: Pick<Logger, 'error'>, now: () => number = Date.now): RequestLog {
    try {
      closeSync(openSync(path, 'a', FILE_MODE));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ConfigError('configuration', [`log.requests_file cannot be written: ${reason}`]);
    }
    const destination = pino.destination({
      dest: path,
      sync: false,
      mode: FILE_MODE,
      minLength: BUFFER_BYTES,
      maxLength: MAX_WAITING_BYTES,
    });
    return new RequestLog(destination, log, now);
  }

  onDecided(facts: readonly RuleFacts[], refusedBy: string | undefined): number {
    const request = ++this.last;
    const [{ address, source } = { address: '', source: '' }] = facts;
    this.write({
      t: this.now(),
      id: request,
      address,
      ...(source !== address && { source }),
      parts: facts.map(({ address: _address, source: _source, path: _path, ...part }) => part),
      ...(refusedBy !== undefined && { refused: refusedBy }),
    });
    return request;
  }

  onSettled(request: number, outcome: RequestOutcome): void {
    this.write({ t: this.now(), id: request, outcome });
  }

  /** Continues in a new file after the old one was renamed. */
  reopen(): void {
    this.hasFailed = false;
    this.destination.reopen();
  }

  /** Waits until every line is written, but not for a disk that hangs. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    this.destination.once('close', resolve).once('error', resolve);
    this.destination.end();
    await promise;
    clearTimeout(timer);
  }

  private write(line: object): void {
    if (!this.hasFailed) this.destination.write(`${JSON.stringify(line)}\n`);
  }

  private flush(): void {
    if (!this.hasFailed) this.destination.flush();
  }

  /** A full disk must not stop requests. */
  private fail(error: unknown): void {
    if (this.hasFailed) return;
    this.hasFailed = true;
    this.log.error({ err: error }, 'the request log cannot be written: nothing more is recorded until a reload');
  }
}
