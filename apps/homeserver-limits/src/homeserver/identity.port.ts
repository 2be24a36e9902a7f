import type { MatrixRequest } from '../wire/matrix-request.js';

/** Who is behind an access token. */
export interface Caller {
  readonly userId: string;
  /** Absent for tokens without a device, such as an application service's. */
  readonly deviceId?: string;
  /** An application service's user whose registration says that rates do not apply. */
  readonly exemptFromRates: boolean;
}

/** Knows whom tokens belong to. */
export abstract class Identity {
  /** @throws MatrixError 401 when the token is missing or not known */
  abstract callerOf(request: MatrixRequest): Promise<Caller>;

  /** The user whom an OpenID token of that server proves; undefined when it is not live, or the server is not trusted. */
  abstract openIdUser(serverName: string, openIdToken: string): Promise<string | undefined>;
}
