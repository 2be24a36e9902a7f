import type { Backend, BackendDirectory } from '@headgate/domain-contracts';
import type { FastifyReply } from 'fastify';

/** Asks every backend the same; one that does not answer hides no other. */
export class AskBackends {
  constructor(private readonly backends: BackendDirectory) {}

  /**
   * @returns the answers that came; the header Svc-Partial says when some did not
   * @throws DomainError the first backend's, when none answered
   */
  async all<T>(reply: FastifyReply, question: (backend: Backend) => Promise<T>): Promise<T[]> {
    const answers = await Promise.allSettled(this.backends.all().map((backend) => question(backend)));
    const good = answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value);
    const bad = answers.find((answer) => answer.status === 'rejected');
    if (bad && good.length === 0) throw bad.reason;
    if (bad) void reply.header('svc-partial', 'true');
    return good;
  }
}
