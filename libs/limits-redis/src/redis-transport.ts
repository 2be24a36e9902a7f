import type { ServerTimeout } from './server-errors.js';

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
