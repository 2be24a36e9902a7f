import type { MatrixRequest } from '../wire/matrix-request.js';

/** The user and device of an access token. */
export interface Caller {
  readonly userId: string;
  /** Absent for tokens without a device, such as an application service's. */
  readonly deviceId?: string;
  /** The user of an application service whose registration has `rate_limited: false`. */
  readonly exemptFromRates: boolean;
  /** The ID of the application service whose token the request carries. */
  readonly appservice?: string;
}

/** Identifies the owners of tokens. */
export abstract class Identity {
  /** @throws MatrixError 401 when the token is missing or unknown */
  abstract callerOf(request: MatrixRequest): Promise<Caller>;

  /**
   * The user of an OpenID token of that server; undefined when the token is not live or the server not trusted.
   * @param request the request that carries the token
   */
  abstract openIdUser(serverName: string, openIdToken: string, request: MatrixRequest): Promise<string | undefined>;
}
