import { createCluster } from '@redis/client';
import type { RedisTransport, TransportListener } from './redis-transport.js';
import { type ServerOptions, credentialsOf, hostOf, parseServerUrl, socketOptions } from './server-options.js';
import { reconnectDelayMs } from './single-transport.js';

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
export class ClusterTransport implements RedisTransport {
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
