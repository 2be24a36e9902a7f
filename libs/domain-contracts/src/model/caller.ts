import type { Grant } from './grant.js';
import type { RehearsedWork } from './rehearsed-work.js';

/** The caller of a request, as tasks and the audit log record them. */
export interface Author {
  /**
   * Login name from the trusted proxy, of the session, or of the creator of the API token; empty for a caller without
   * an identity.
   */
  readonly login: string;
  readonly name: string;
  /** The groups that the login provider reports. Empty for others. */
  readonly groups?: readonly string[];
  /** The ID of the API token of the request. */
  readonly token?: string;
  /** The ID of the session of the browser, if the user has logged in. */
  readonly session?: string;
  /** Where the request came from. */
  readonly origin?: RequestOrigin;
  /** What a token with a leash has rehearsed: nothing else may be changed for this caller. */
  readonly rehearsed?: RehearsedWork;
}

/** The caller of a request, with their rights. */
export interface Caller extends Author {
  readonly grant: Grant;
}

export interface RequestOrigin {
  /** The IP address of the client, behind the trusted proxies. */
  readonly address: string;
  /** The method and the pattern of the path, such as `POST /api/vms`. */
  readonly route: string;
}
