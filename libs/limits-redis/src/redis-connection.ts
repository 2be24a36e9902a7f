import type { ConnectionOptions } from 'node:tls';
import { type RedisClientType, createClient } from '@redis/client';
import { ServerAway, ServerTooSlow } from './server-errors.js';
import type { Script } from './scripts.js';

export interface ServerOptions {
  /** `redis://[[user]:password@]host[:port][/database]`, or `rediss://` for TLS. One server: no cluster, no sentinels. */
  readonly url: string;
  /** Before what the URL says. */
  readonly username?: string;
  readonly password?: string;
  /** With `rediss://`: the authority of the server's certificate when it is a private one, and the client's own. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername'>;
  /** How long an answer may take: 100 ms when left out. A refusal must not wait for a slow server. */
  readonly timeoutMs?: number;
}

const CONNECT_MS = 1000;
const SLOWEST_RECONNECT_MS = 2000;

type Client = RedisClientType;

/**
 * One connection, made again for as long as it is not closed. Commands fail at once while the server is away; they are
 * never kept for later, when they would count at the wrong time.
 */
export class RedisConnection {
  readonly #options: ServerOptions;
  readonly #timeoutMs: number;
  #client: Client;
  #closed = false;
  #lastError: unknown;

  /** @throws TypeError when the URL makes no sense */
  constructor(options: ServerOptions) {
    this.#options = checked(options);
    this.#timeoutMs = options.timeoutMs ?? 100;
    this.#client = this.#open();
  }

  /** Rejects with ServerAway, ServerTooSlow, or what the server says. */
  async run(command: string[]): Promise<unknown> {
    const client = this.#client;
    if (!client.isReady) throw new ServerAway(this.#closed ? 'it was closed here' : this.#lastError);
    try {
      return await within(this.#timeoutMs, client.sendCommand(command));
    } catch (error) {
      // What waits in a connection that has stopped must not reach the server later; nor may it be waited for.
      if (error instanceof ServerTooSlow) this.#replace(client, error);
      throw error;
    }
  }

  async script({ text, digest }: Script, keys: string[], args: string[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args];
    try {
      return await this.run(['EVALSHA', digest, ...rest]);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return this.run(['EVAL', text, ...rest]);
    }
  }

  close(): void {
    this.#closed = true;
    this.#client.destroy();
  }

  #replace(client: Client, reason: unknown): void {
    if (this.#closed || client !== this.#client) return;
    this.#lastError = reason;
    client.destroy();
    this.#client = this.#open();
  }

  #open(): Client {
    const { url, username, password, tls } = this.#options;
    const client: Client = createClient({
      url,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      disableOfflineQueue: true,
      socket: {
        ...tls,
        connectTimeout: CONNECT_MS,
        reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 10), SLOWEST_RECONNECT_MS),
      },
    });
    let greeting: NodeJS.Timeout | undefined;
    // The client waits for the end of its greeting for ever.
    client.on('connect', () => {
      greeting = setTimeout(() => this.#replace(client, new ServerTooSlow(CONNECT_MS)), CONNECT_MS);
    });
    for (const event of ['ready', 'error', 'end']) client.on(event, () => clearTimeout(greeting));
    // Whoever runs a command is told; without a listener the same error would end the process.
    client.on('error', (error: unknown) => (this.#lastError = error));
    client.connect().catch(() => clearTimeout(greeting));
    return client;
  }
}

/** Credentials that are given apart come before those of the URL. */
function checked({ url, ...rest }: ServerOptions): ServerOptions {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // The client's own error would carry the whole URL, with its password.
  if (!parsed || !['redis:', 'rediss:'].includes(parsed.protocol) || parsed.hostname === '') {
    throw new TypeError('The URL of the shared windows must be redis://HOST[:PORT] or rediss://HOST[:PORT].');
  }
  if (rest.username !== undefined) parsed.username = '';
  if (rest.password !== undefined) parsed.password = '';
  return { url: parsed.href, ...rest };
}

async function within<Answer>(ms: number, answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    // A process that was busy gets its timers first and then what has long been there: that is looked at before judging.
    timer = setTimeout(() => setImmediate(() => reject(new ServerTooSlow(ms))), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
