import { createClient } from '@redis/client';
import type { RedisTransport, TransportListener } from './redis-transport.js';
import {
  CONNECT_TIMEOUT_MS,
  type ServerOptions,
  credentialsOf,
  hostOf,
  parseServerUrl,
  socketOptions,
} from './server-options.js';
import { reconnectDelayMs, singleTransport } from './single-transport.js';

/**
 * One connection to the primary that the sentinels report. It is looked up again whenever the connection is lost or the
 * server is not the primary any more. The client library's own Sentinel support runs one command at a time on each
 * connection and queues the others, so it can neither send commands together nor fail immediately.
 */
export class SentinelTransport implements RedisTransport {
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
