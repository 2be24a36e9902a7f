import { setTimeout as wait } from 'node:timers/promises';
import { FallbackRateLimiter, type MemoryRateLimiter } from '@headgate/limits-core';
import { RedisRateLimiter } from '@headgate/limits-redis';
import type { Logger } from 'pino';
import { readNamedFile } from '../config/read-file.js';
import type { SharedSection } from '../config/shared.section.js';

/** How long the start waits for the server before this node begins on its own. */
const FIRST_ANSWER_MS = 2_000;
const TRY_MS = 20;
/** How often somebody looks whether the server is there, so that log and metric know it without traffic. */
const LOOK_MS = 1_000;
/** No caller's key: those begin with what they are. */
const LOOKING = '';

/** Windows on a server that several gateways share, with this node's own while it is away. */
export class SharedStore {
  readonly windows: FallbackRateLimiter;
  private readonly server: RedisRateLimiter;
  private looking?: NodeJS.Timeout;

  /** @throws ConfigError naming a file that cannot be read */
  constructor(
    url: string,
    { password_file, ca_file, prefix, timeout_ms: timeoutMs }: Readonly<SharedSection>,
    private readonly own: MemoryRateLimiter,
    private readonly log: Logger,
  ) {
    this.server = RedisRateLimiter.open({
      url,
      prefix,
      timeoutMs,
      ...(password_file !== undefined && { password: readNamedFile(password_file).split(/\r?\n/, 1)[0] ?? '' }),
      ...(ca_file !== undefined && { tls: { ca: readNamedFile(ca_file) } }),
    });
    this.windows = new FallbackRateLimiter(this.server, own, { onChange: (error) => this.say(error) });
  }

  /** The shared windows decide, not this node's own. */
  readonly inUse = (): boolean => !this.windows.isDegraded;

  async start(): Promise<void> {
    await this.firstAnswer();
    await this.look();
    this.looking = setInterval(() => void this.look(), LOOK_MS);
    this.looking.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.looking);
    await this.server.close();
  }

  /** A connection takes a moment; without it, the first requests would be decided here. */
  private async firstAnswer(): Promise<void> {
    const end = Date.now() + FIRST_ANSWER_MS;
    while (Date.now() < end) {
      const there = await this.server.ping().then(
        () => true,
        () => false,
      );
      if (there) return;
      await wait(TRY_MS);
    }
  }

  /** By taking room and giving it back, because a server may answer and refuse to write. */
  private async look(): Promise<void> {
    const [rate] = this.own.rates;
    const taken = rate && (await this.windows.reserve([{ rate, key: LOOKING }]));
    if (taken?.granted) await taken.release();
  }

  private say(error: unknown): void {
    if (error === undefined) this.log.info('the shared windows are back: all nodes count together');
    else this.log.warn({ err: error }, 'the shared windows are away: this node counts on its own');
  }
}
