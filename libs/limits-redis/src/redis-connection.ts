import type { ConnectionOptions } from 'node:tls';
import { type RedisClientType, createClient } from '@redis/client';
import type { Script } from './scripts.js';
import { ServerTimeout, ServerUnavailable } from './server-errors.js';

export interface ServerOptions {
  /** `redis://[[user]:password@]host[:port][/database]`, or `rediss://` for TLS. A single server: no cluster, no sentinels. */
  readonly url: string;
  /** Overrides the user in the URL. */
  readonly username?: string;
  /** Overrides the password in the URL. */
  readonly password?: string;
  /** For `rediss://`: the authority of the server's certificate, if it is a private one, and a client certificate. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername'>;
  /** Maximum time for an answer; 100 ms by default. A refusal must not wait for a slow server. */
  readonly timeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 1000;
const MIN_RECONNECT_DELAY_MS = 50;
const MAX_RECONNECT_DELAY_MS = 2000;

type Client = RedisClientType;

/**
 * One connection, which reconnects until it is closed. Commands fail at once while the server is unavailable; they are
 * never queued, because they would count at the wrong time later.
 */
export class RedisConnection {
  private readonly options: ServerOptions;
  private readonly timeoutMs: number;
  private client: Client;
  private closed = false;
  private lastError: unknown;

  /** @throws TypeError when the URL is invalid */
  constructor(options: ServerOptions) {
    this.options = validated(options);
    this.timeoutMs = options.timeoutMs ?? 100;
    this.client = this.connect();
  }

  /** Rejects with ServerUnavailable, ServerTimeout, or the server's error. */
  async run(command: string[]): Promise<unknown> {
    const client = this.client;
    if (!client.isReady) throw new ServerUnavailable(this.closed ? 'the connection was closed' : this.lastError);
    try {
      return await withTimeout(this.timeoutMs, client.sendCommand(command));
    } catch (error) {
      // Commands pending on a stalled connection must not reach the server later, nor delay new ones.
      if (error instanceof ServerTimeout) this.replace(client, error);
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
    this.closed = true;
    this.client.destroy();
  }

  private replace(client: Client, reason: unknown): void {
    if (this.closed || client !== this.client) return;
    this.lastError = reason;
    client.destroy();
    this.client = this.connect();
  }

  private connect(): Client {
    const { url, username, password, tls } = this.options;
    const client: Client = createClient({
      url,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      disableOfflineQueue: true,
      socket: {
        ...tls,
        connectTimeout: CONNECT_TIMEOUT_MS,
        reconnectStrategy: (retries) =>
          Math.min(MIN_RECONNECT_DELAY_MS * 2 ** Math.min(retries, 10), MAX_RECONNECT_DELAY_MS),
      },
    });
    let handshake: NodeJS.Timeout | undefined;
    // The client itself has no timeout for its handshake.
    client.on('connect', () => {
      handshake = setTimeout(() => this.replace(client, new ServerTimeout(CONNECT_TIMEOUT_MS)), CONNECT_TIMEOUT_MS);
    });
    for (const event of ['ready', 'error', 'end']) client.on(event, () => clearTimeout(handshake));
    // Commands reject with this error; without a listener, it would also end the process.
    client.on('error', (error: unknown) => (this.lastError = error));
    client.connect().catch(() => clearTimeout(handshake));
    return client;
  }
}

/** Removes credentials from the URL that separate options override. */
function validated({ url, ...rest }: ServerOptions): ServerOptions {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // The client's own error would contain the whole URL, with its password.
  if (!parsed || !['redis:', 'rediss:'].includes(parsed.protocol) || parsed.hostname === '') {
    throw new TypeError('The URL of the Redis server must be redis://HOST[:PORT] or rediss://HOST[:PORT].');
  }
  if (rest.username !== undefined) parsed.username = '';
  if (rest.password !== undefined) parsed.password = '';
  return { url: parsed.href, ...rest };
}

async function withTimeout<Answer>(ms: number, answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    // A busy process runs expired timers before it reads its sockets: read what has arrived before giving up.
    timer = setTimeout(() => setImmediate(() => reject(new ServerTimeout(ms))), ms);
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
