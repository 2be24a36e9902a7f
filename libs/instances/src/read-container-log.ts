import type { Readable } from 'node:stream';
import {
  findInstance,
  type InstanceQuery,
  type Instance,
  type InstanceSources,
  type LogRequest,
} from '@headgate/domain-contracts';

/** Opens the logs of containers. */
export class ReadContainerLog {
  constructor(private readonly deps: InstanceSources) {}

  /**
   * Checks that there may be a log, without opening it.
   * @returns the container
   * @throws DomainError like `findInstance`
   */
  check(query: InstanceQuery): Instance {
    return findInstance(this.deps, query, 'containerLogs').instance;
  }

  /**
   * @param signal ends the reading
   * @throws DomainError like `findInstance`, and WRONG_STATE for a container that does not run
   */
  async open(query: InstanceQuery, request: LogRequest, signal: AbortSignal): Promise<Readable> {
    const { ref, ability } = findInstance(this.deps, query, 'containerLogs');
    return ability.open(ref, request, signal);
  }
}
