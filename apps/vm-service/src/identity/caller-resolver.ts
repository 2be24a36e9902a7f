import type { Caller } from '@headgate/domain-contracts';
import type { PeerRequest } from './local-trust.js';

/** Determines the caller of a request. */
export abstract class CallerResolver {
  /** @throws DomainError NOT_PERMITTED for a local peer that is not trusted */
  abstract of(request: PeerRequest): Caller;
}
