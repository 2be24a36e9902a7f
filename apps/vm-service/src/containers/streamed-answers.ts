import type { Readable } from 'node:stream';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Need } from '@headgate/access';
import { Clock, DomainError, type Caller, type Instance } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import type { FastifyReply } from 'fastify';
import { InstanceConnections } from '../identity/instance-connections.js';
import { LogPump } from './log-pump.js';

export interface StreamClient {
  readonly reply: FastifyReply;
  readonly caller: Caller;
  readonly container: Instance;
  readonly method: string;
}

export interface StreamedAnswer {
  readonly headers: Readonly<Record<string, string>>;
  /** The right that must last as long as the response. */
  readonly need: Need;
  /** The end of "The rights to … have ended." */
  readonly doing: string;
  /** Default: no limit. */
  readonly maxBytes?: number;
  /** Takes a place, and returns a function that releases it. */
  readonly takePlace?: () => () => void;
}

/**
 * The responses that send output of containers. Each ends with its client, with the rights of its caller, with the
 * connection of its context, with the service, or at the limit of bytes. A client that reads nothing is disconnected.
 */
@Injectable()
export class StreamedAnswers implements BeforeApplicationShutdown {
  private readonly open = new Set<AbortController>();

  constructor(
    private readonly clock: Clock,
    private readonly instances: InstanceConnections,
    private readonly fleet: FleetReader,
  ) {}

  /**
   * Answers a request with a stream.
   * @param openStream called only if the stream is sent, which HEAD does without
   * @throws DomainError the errors of `takePlace` and of `openStream`
   */
  async send(
    { reply, caller, container, method }: StreamClient,
    { headers, need, doing, maxBytes = Number.POSITIVE_INFINITY, takePlace }: StreamedAnswer,
    openStream: (signal: AbortSignal) => Promise<Readable>,
  ): Promise<void> {
    if (method === 'HEAD') return void reply.headers(headers).send();
    const release = takePlace?.();
    const { raw } = reply;
    const leaves = new AbortController();
    this.open.add(leaves);
    const ends = [
      this.instances.closeWith(caller, container, [need], () =>
        leaves.abort(new DomainError('NOT_PERMITTED', `The rights to ${doing} have ended.`)),
      ),
      this.endWithContext(container.ref.context, leaves),
    ];
    const close = (): void => {
      leaves.abort(new Error('The client has left.'));
      this.open.delete(leaves);
      for (const end of ends) end();
      release?.();
    };
    // A client that went away while its request waited emits no further `close`.
    if (raw.destroyed || raw.socket?.destroyed) return close();
    raw.once('close', close);
    try {
      const source = await openStream(leaves.signal);
      reply.hijack();
      raw.writeHead(200, headers);
      raw.flushHeaders();
      new LogPump({ source, out: raw, clock: this.clock, maxBytes }).start();
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

  /** The backend of a context that was removed, or that has other settings now, is closed. */
  private endWithContext(context: string, connection: AbortController): () => void {
    return this.fleet.subscribe((event) => {
      if (event.type !== 'status' || event.state.context !== context) return;
      if (event.isReplaced || event.state.state === 'detached') {
        connection.abort(new DomainError('CONTEXT_NOT_FOUND', 'The connection of the context was closed.'));
      }
    });
  }
}
