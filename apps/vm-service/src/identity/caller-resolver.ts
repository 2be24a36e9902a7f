import type { IncomingMessage } from 'node:http';
import type { Caller } from '@headgate/domain-contracts';

/** Determines the caller of a request. */
export abstract class CallerResolver {
  abstract of(request: Pick<IncomingMessage, 'headers' | 'socket'>): Caller;
}
