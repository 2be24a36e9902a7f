import { ClusterTransport } from './cluster-transport.js';
import type { RedisTransport, TransportListener } from './redis-transport.js';
import type { Script } from './scripts.js';
import { ServerTimeout, ServerUnavailable } from './server-errors.js';
import { SentinelTransport } from './sentinel-transport.js';
import { type ServerOptions, validateServers } from './server-options.js';
import { singleTransport } from './single-transport.js';
import { WireDeadlines } from './wire-deadlines.js';

export interface ConnectionOptions extends ServerOptions {
  /** Maximum time for an answer; 100 ms by default. A refusal must not wait for a slow server. */
  readonly timeoutMs?: number;
}

/**
 * Runs commands and scripts with a timeout. Commands fail immediately while the server is unavailable; they are never
 * queued, because they would count at the wrong time later. Commands of one turn of the event loop are sent together.
 */
export class RedisConnection {
  private readonly deadlines: WireDeadlines;
  private transport: RedisTransport;
  private closed = false;
  private lastError: unknown;

  /** @throws TypeError when the server's address is invalid */
  constructor(private readonly options: ConnectionOptions) {
    validateServers(options);
    this.deadlines = new WireDeadlines(options.timeoutMs ?? 100);
    this.transport = this.connect();
  }

  /**
   * Rejects with ServerUnavailable, ServerTimeout, or the server's error.
   * @param key of the cluster node that runs the command; undefined for any node
   */
  async run(command: string[], key?: string): Promise<unknown> {
    const transport = this.transport;
    if (!transport.isReady) throw new ServerUnavailable(this.closed ? 'the connection was closed' : this.lastError);
    try {
      return await this.deadlines.guard(transport.send(command, key));
    } catch (error) {
      // Commands pending on a stalled connection must not reach the server later, nor delay new ones.
      if (error instanceof ServerTimeout) this.replace(transport, error);
      throw error;
    }
  }

  async script({ text, digest }: Script, keys: string[], args: string[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args];
    try {
      return await this.run(['EVALSHA', digest, ...rest], keys[0]);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return this.run(['EVAL', text, ...rest], keys[0]);
    }
  }

  close(): void {
    this.closed = true;
    this.transport.destroy();
  }

  private replace(transport: RedisTransport, reason: unknown): void {
    if (this.closed || transport !== this.transport) return;
    this.lastError = reason;
    transport.destroy();
    this.transport = this.connect();
  }

  private connect(): RedisTransport {
    const transport: RedisTransport = openTransport(this.options, {
      onError: (error) => (this.lastError = error),
      onStalled: (error) => this.replace(transport, error),
    });
    return transport;
  }
}

function openTransport(options: ServerOptions, listener: TransportListener): RedisTransport {
  const { cluster, sentinel } = options;
  if (cluster) return new ClusterTransport(options, listener);
  if (sentinel) return new SentinelTransport(options, listener);
  return singleTransport(options, listener);
}
