import type { ConnectionOptions } from 'node:tls';
import { createClient, createCluster } from '@redis/client';
import { ServerTimeout } from './server-errors.js';

/** The server, or servers, of a limiter: exactly one of `url`, `cluster` and `sentinel`. */
export interface ServerOptions {
  /** A single server: `redis://[[user]:password@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url?: string;
  /** A Redis Cluster: the URLs of some of its nodes, which report the others. Credentials and TLS of the first apply to all. */
  readonly cluster?: { readonly nodes: readonly string[] };
  /** A primary that Sentinel monitors. */
  readonly sentinel?: SentinelOptions;
  /** Overrides the user in the URL. */
  readonly username?: string;
  /** Overrides the password in the URL. */
  readonly password?: string;
  /** For `rediss://`: the authority of the server's certificate, if it is a private one, and a client certificate. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername'>;
}

export interface SentinelOptions {
  /** The name of the monitored primary. */
  readonly name: string;
  /** URLs of the sentinels, `redis://[[user]:password@]host:port`. `username` and `password` are those of the primary. */
  readonly nodes: readonly string[];
}

/** A connection to one or more servers that reconnects until it is destroyed. */
export interface RedisTransport {
  readonly isReady: boolean;
  /** @param key of the cluster node that runs the command; undefined for any node */
  send(command: string[], key?: string): Promise<unknown>;
  destroy(): void;
}

export interface TransportListener {
  onError(error: unknown): void;
  /** The connection was established, but the server does not answer the handshake. */
  onStalled(error: ServerTimeout): void;
}

export const CONNECT_TIMEOUT_MS = 1000;
const MIN_RECONNECT_DELAY_MS = 50;
const MAX_RECONNECT_DELAY_MS = 2000;

const reconnectDelayMs = (retries: number): number =>
  Math.min(MIN_RECONNECT_DELAY_MS * 2 ** Math.min(retries, 10), MAX_RECONNECT_DELAY_MS);

/** @throws TypeError when an address is invalid, or there is not exactly one kind of server */
export function validateServers({ url, cluster, sentinel }: ServerOptions): void {
  if ([url, cluster, sentinel].filter((server) => server !== undefined).length !== 1) {
    throw new TypeError('Set exactly one of url, cluster and sentinel.');
  }
  const urls = url === undefined ? (cluster ?? sentinel)!.nodes : [url];
  if (urls.length === 0) throw new TypeError('A cluster or sentinel needs the URL of at least one node.');
  for (const one of urls) parseServerUrl(one);
}

export function openTransport(options: ServerOptions, listener: TransportListener): RedisTransport {
  const { cluster, sentinel } = options;
  if (cluster) return new ClusterTransport(options, listener);
  if (sentinel) return new SentinelTransport(options, listener);
  return singleTransport(options, listener);
}

function parseServerUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // The client's own error would contain the whole URL, with its password.
  if (!parsed || !['redis:', 'rediss:'].includes(parsed.protocol) || parsed.hostname === '') {
    throw new TypeError('The URL of the Redis server must be redis://HOST[:PORT] or rediss://HOST[:PORT].');
  }
  return parsed;
}

/** Without the brackets of an IPv6 address. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Separate options override the credentials of a URL. */
function credentialsOf(url: URL, { username, password }: Pick<ServerOptions, 'username' | 'password'>) {
  const user = username ?? decodeURIComponent(url.username);
  const secret = password ?? decodeURIComponent(url.password);
  return { ...(user === '' ? {} : { username: user }), ...(secret === '' ? {} : { password: secret }) };
}

/** The type of the client wants a literal for `tls`, which only exists after the URL was read. */
const socketOptions = (url: URL, tls: ServerOptions['tls']) => ({
  connectTimeout: CONNECT_TIMEOUT_MS,
  ...(url.protocol === 'rediss:' ? { tls: true as const, ...tls } : {}),
});

function singleTransport(options: ServerOptions, { onError, onStalled }: TransportListener): RedisTransport {
  const url = parseServerUrl(options.url!);
  const credentials = credentialsOf(url, options);
  url.username = '';
  url.password = '';
  const client = createClient({
    url: url.href,
    ...credentials,
    disableOfflineQueue: true,
    socket: { ...options.tls, connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: reconnectDelayMs },
  });
  let handshake: NodeJS.Timeout | undefined;
  // The client itself has no timeout for its handshake.
  client.on('connect', () => {
    handshake = setTimeout(() => onStalled(new ServerTimeout(CONNECT_TIMEOUT_MS)), CONNECT_TIMEOUT_MS);
  });
  for (const event of ['ready', 'error', 'end']) client.on(event, () => clearTimeout(handshake));
  // Commands reject with this error; without a listener, it would also end the process.
  client.on('error', onError);
  client.connect().catch(() => clearTimeout(handshake));
  return {
    get isReady() {
      return client.isReady;
    },
    send: (command) => client.sendCommand(command),
    destroy: () => client.destroy(),
  };
}

/** The client of a cluster, whose first connection fails if no node is reachable. */
interface MultiClient {
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  send(command: string[], key?: string): Promise<unknown>;
  destroy(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

function clusterClient(nodes: readonly string[], options: ServerOptions): MultiClient {
  const urls = nodes.map(parseServerUrl);
  const defaults = {
    ...credentialsOf(urls[0]!, options),
    disableOfflineQueue: true,
    socket: { ...socketOptions(urls[0]!, options.tls), reconnectStrategy: reconnectDelayMs },
  };
  const rootNodes = urls.map((url) => ({
    ...defaults,
    socket: { ...defaults.socket, host: hostOf(url), port: Number(url.port || 6379) },
  }));
  const cluster = createCluster({ rootNodes, defaults });
  return {
    get isReady() {
      return cluster.isReady;
    },
    connect: () => cluster.connect(),
    send: (command, key) => cluster.sendCommand(key, false, command),
    destroy: () => cluster.destroy(),
    on: (event, listener) => cluster.on(event, listener),
  };
}

/** Retries the first connection. Later ones are the client's own business. */
class ClusterTransport implements RedisTransport {
  private client: MultiClient;
  private retry: NodeJS.Timeout | undefined;
  private isDestroyed = false;

  constructor(
    private readonly options: ServerOptions,
    private readonly listener: TransportListener,
  ) {
    this.client = this.connect(0);
  }

  get isReady(): boolean {
    return this.client.isReady;
  }

  send(command: string[], key?: string): Promise<unknown> {
    return this.client.send(command, key);
  }

  destroy(): void {
    this.isDestroyed = true;
    clearTimeout(this.retry);
    destroyQuietly(this.client);
  }

  private connect(retries: number): MultiClient {
    const client = clusterClient(this.options.cluster!.nodes, this.options);
    client.on('error', (error) => this.listener.onError(error));
    client.connect().catch((error: unknown) => {
      if (this.isDestroyed) return;
      this.listener.onError(error);
      destroyQuietly(client);
      this.retry = setTimeout(() => (this.client = this.connect(retries + 1)), reconnectDelayMs(retries));
    });
    return client;
  }
}

/** A client that has never connected, or is closing already, refuses to be destroyed. */
function destroyQuietly(client: MultiClient): void {
  try {
    client.destroy();
  } catch {
    // Nothing is open.
  }
}

/**
 * One connection to the primary that the sentinels report. It is looked up again whenever the connection is lost or the
 * server is not the primary any more. The client library's own Sentinel support runs one command at a time on each connection
 * and queues the others, so it can neither send commands together nor fail at once.
 */
class SentinelTransport implements RedisTransport {
  private primary: RedisTransport | undefined;
  private retry: NodeJS.Timeout | undefined;
  private retries = 0;
  private isDestroyed = false;

  constructor(
    private readonly options: ServerOptions,
    private readonly listener: TransportListener,
  ) {
    void this.connect();
  }

  get isReady(): boolean {
    const isReady = this.primary?.isReady ?? false;
    if (isReady) this.retries = 0;
    return isReady;
  }

  async send(command: string[]): Promise<unknown> {
    const primary = this.primary!;
    try {
      return await primary.send(command);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('READONLY')) this.reconnect(primary, error);
      throw error;
    }
  }

  destroy(): void {
    this.isDestroyed = true;
    clearTimeout(this.retry);
    this.primary?.destroy();
  }

  private async connect(): Promise<void> {
    const { tls, username, password, sentinel } = this.options;
    for (const node of sentinel!.nodes) {
      const url = await this.findPrimary(parseServerUrl(node)).catch((error: unknown) => {
        this.listener.onError(error);
        return undefined;
      });
      if (this.isDestroyed) return;
      if (!url) continue;
      const server = { url, ...(tls && { tls }), ...(username && { username }), ...(password && { password }) };
      const primary: RedisTransport = singleTransport(server, {
        onError: (error) => this.reconnect(primary, error),
        onStalled: (error) => this.listener.onStalled(error),
      });
      this.primary = primary;
      return;
    }
    this.retryLater();
  }

  private reconnect(primary: RedisTransport, error: unknown): void {
    if (this.isDestroyed || primary !== this.primary) return;
    this.listener.onError(error);
    this.primary = undefined;
    primary.destroy();
    this.retryLater();
  }

  private retryLater(): void {
    this.retry = setTimeout(() => void this.connect(), reconnectDelayMs(this.retries++));
  }

  /** The URL of the primary, as one sentinel reports it; undefined if it does not know the name. */
  private async findPrimary(sentinel: URL): Promise<string | undefined> {
    const client = createClient({
      ...credentialsOf(sentinel, {}),
      disableOfflineQueue: true,
      socket: {
        ...socketOptions(sentinel, this.options.tls),
        host: hostOf(sentinel),
        port: Number(sentinel.port || 26379),
        reconnectStrategy: false,
      },
    });
    client.on('error', () => undefined);
    const timeout = setTimeout(() => client.destroy(), 2 * CONNECT_TIMEOUT_MS);
    try {
      await client.connect();
      const address = await client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', this.options.sentinel!.name]);
      if (!Array.isArray(address)) throw new Error(`The sentinel does not know ${this.options.sentinel!.name}.`);
      const [host, port] = address.map(String);
      return `${sentinel.protocol}//${host!.includes(':') ? `[${host}]` : host}:${port}`;
    } finally {
      clearTimeout(timeout);
      if (client.isOpen) client.destroy();
    }
  }
}
