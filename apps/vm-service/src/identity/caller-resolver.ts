import type { Caller } from '@headgate/domain-contracts';
import type { PeerRequest } from './local-trust.js';

/** Determines the caller of a request. */
export abstract class CallerResolver {
  /**
   * @param route the method and the pattern of the path, for the audit log
   * @throws DomainError NOT_PERMITTED for a local peer that is not trusted, and for an API token that is not valid;
   *   LOGIN_REQUIRED without a session, where users log in
   */
  abstract of(request: PeerRequest, route?: string): Caller;
}
