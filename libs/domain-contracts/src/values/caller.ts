import type { Grant } from './grant.js';

/** The caller of a request, who is recorded in tasks and in the audit log. */
export interface Caller {
  /** Login name from the trusted proxy, or of the creator of the API token; empty for a caller without an identity. */
  readonly login: string;
  readonly name: string;
  readonly admin: boolean;
  /** The ID of the API token of the request. */
  readonly token?: string;
  /** Where the request came from. */
  readonly origin?: RequestOrigin;
  /** Limits the caller in addition to `admin`. Only callers with an API token or with roles have one. */
  readonly grant?: Grant;
}

export interface RequestOrigin {
  /** The IP address of the client, behind the trusted proxies. */
  readonly address: string;
  /** The method and the pattern of the path, such as `POST /api/vms`. */
  readonly route: string;
}
