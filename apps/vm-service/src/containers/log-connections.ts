import type { Readable } from 'node:stream';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { ct } from '@headgate/access';
import { Clock, DomainError, type Caller, type Instance } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import type { FastifyReply } from 'fastify';
import { InstanceConnections } from '../identity/instance-connections.js';
import { LogPump } from './log-pump.js';

const MIB = 1024 ** 2;
/** The most bytes of a response. */
export const MAX_LOG_BYTES = 32 * MIB;
/** The most bytes of a response that follows a log; its client asks again with `since`. */
export const MAX_FOLLOWED_BYTES = 256 * MIB;
/** A follower has a connection to the engine of its own. */
export const MAX_FOLLOWERS_PER_CALLER = 16;
export const MAX_FOLLOWERS = 200;

export interface LogClient {
  readonly reply: FastifyReply;
  readonly caller: Caller;
  readonly container: Instance;
  readonly method: string;
  /** Whether the response continues until the client leaves. */
  readonly follows: boolean;
}

/**
 * The responses that send logs. Each ends with its client, with the rights of its caller, with the connection of its
 * context, with the service, or at the limit of bytes. A client that reads nothing is disconnected.
 */
@Injectable()
export class LogConnections implements BeforeApplicationShutdown {
  private readonly open = new Set<AbortController>();
  /** The number of followers by caller. */
  private readonly followers = new Map<string, number>();
  private followerCount = 0;

  constructor(
    private readonly clock: Clock,
    private readonly instances: InstanceConnections,
    private readonly fleet: FleetReader,
  ) {}

  /**
   * Answers a request with a log.
   * @param openLog called only if the log is sent, which HEAD does without
   * @throws DomainError TOO_MANY_STREAMS, and the errors of `openLog`
   */
  async answer(
    { reply, caller, container, method, follows }: LogClient,
    openLog: (signal: AbortSignal) => Promise<Readable>,
  ): Promise<void> {
    if (method === 'HEAD') return void reply.headers(HEADERS).send();
    const release = follows ? this.countFollower(caller) : (): void => undefined;
    const { raw } = reply;
    const leaves = new AbortController();
    this.open.add(leaves);
    const ends = [this.endWith(caller, container, leaves), this.endWithContext(container.ref.context, leaves)];
    const close = (): void => {
      leaves.abort(new Error('The client has left.'));
      this.open.delete(leaves);
      for (const end of ends) end();
      release();
    };
    // A client that went away while its request waited emits no further `close`.
    if (raw.destroyed || raw.socket?.destroyed) return close();
    raw.once('close', close);
    try {
      const source = await openLog(leaves.signal);
      reply.hijack();
      raw.writeHead(200, HEADERS);
      raw.flushHeaders();
      new LogPump({
        source,
        out: raw,
        clock: this.clock,
        maxBytes: follows ? MAX_FOLLOWED_BYTES : MAX_LOG_BYTES,
      }).start();
      leaves.signal.addEventListener('abort', () => raw.destroy(), { once: true });
      if (leaves.signal.aborted) raw.destroy();
    } catch (error) {
      raw.off('close', close);
      close();
      throw error;
    }
  }

  beforeApplicationShutdown(): void {
    for (const connection of this.open)
      connection.abort(new DomainError('SHUTTING_DOWN', 'The service is shutting down.'));
  }

  /** @returns a function that releases the place */
  private countFollower({ login, token }: Caller): () => void {
    const owner = token === undefined ? `login ${login}` : `token ${token}`;
    const own = this.followers.get(owner) ?? 0;
    if (own >= MAX_FOLLOWERS_PER_CALLER)
      throw new DomainError('TOO_MANY_STREAMS', `You follow ${own} logs; close one of them first.`);
    if (this.followerCount >= MAX_FOLLOWERS)
      throw new DomainError(
        'TOO_MANY_STREAMS',
        `${MAX_FOLLOWERS} logs are already being followed; read this one without follow.`,
      );
    this.followers.set(owner, own + 1);
    this.followerCount++;
    return () => {
      const rest = (this.followers.get(owner) ?? 1) - 1;
      if (rest === 0) this.followers.delete(owner);
      else this.followers.set(owner, rest);
      this.followerCount--;
    };
  }

  /** The backend of a context that was removed, or that has other settings now, is closed. */
  private endWithContext(context: string, connection: AbortController): () => void {
    return this.fleet.subscribe((event) => {
      if (event.type !== 'status' || event.state.context !== context) return;
      if (event.isReplaced || event.state.state === 'detached') {
        connection.abort(new DomainError('CONTEXT_NOT_FOUND', 'The connection of the context was closed.'));
      }
    });
  }

  private endWith(caller: Caller, container: Instance, connection: AbortController): () => void {
    return this.instances.closeWith(caller, container, [ct('read')], () =>
      connection.abort(new DomainError('NOT_PERMITTED', 'The rights to read this log have ended.')),
    );
  }
}

const HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};
