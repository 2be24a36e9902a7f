import type { Backend, BackendDirectory } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';

/** Sends one query to every backend. A backend that does not answer does not hide the others. */
export class QueryBackends {
  constructor(private readonly backends: BackendDirectory) {}

  /**
   * @param context asks only this one
   * @returns the answers; the header Svc-Partial is set when some are missing
   * @throws DomainError the error of the first backend, when none answered
   */
  async all<T>(reply: FastifyReply, query: (backend: Backend) => Promise<T>, context?: string): Promise<T[]> {
    const backends = context === undefined ? this.backends.all() : [this.backends.get(context)];
    const answers = await Promise.allSettled(backends.map((backend) => query(backend)));
    const fulfilled = answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value);
    const rejected = answers.find((answer) => answer.status === 'rejected');
    if (rejected && fulfilled.length === 0) throw rejected.reason;
    if (rejected) void reply.header('svc-partial', 'true');
    return fulfilled;
  }
  /** The items of all backends as one list; the same otherwise. */
  async list<T>(
    reply: FastifyReply,
    query: (backend: Backend) => Promise<readonly T[]>,
    context?: string,
  ): Promise<T[]> {
    return (await this.all(reply, query, context)).flat();
  }
}
