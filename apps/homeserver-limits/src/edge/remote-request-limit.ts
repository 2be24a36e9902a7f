import type { IncomingMessage } from 'node:http';
import { RateExceeded } from '@headgate/limits-core';
import type { MainLink } from '../link/protocol.js';
import { boundOf, type RequestPlaces } from './request-limit.js';

/** The bound on requests in progress in a worker: the main process counts those of all workers. */
export class RemoteRequestLimit implements RequestPlaces {
  constructor(private readonly main: MainLink) {}

  async enter(
    { method = 'GET' }: Pick<IncomingMessage, 'method'>,
    target: string,
    caller: { address: string; source: string },
  ): Promise<() => void> {
    const name = boundOf(method, target);
    const { held, retryAfterMs } = await this.main.call('enter', { name, ...caller });
    if (retryAfterMs !== undefined) throw new RateExceeded({ rate: name, retryAfterMs });
    if (held === undefined) return () => undefined;
    return () => this.main.notify('leave', { held });
  }
}
