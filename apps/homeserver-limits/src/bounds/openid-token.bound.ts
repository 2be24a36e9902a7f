import { MatrixError } from '@headgate/matrix-protocol';
import type { Identity } from '../homeserver/identity.port.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';
import type { Rates } from './rates.js';

/** OpenID tokens: every request counts, before a token is made. One for another user can never make one, so it does not. */
export class OpenIdTokenBound extends Bound {
  constructor(
    private readonly identity: Identity,
    private readonly rates: Rates,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    const caller = await this.identity.callerOf(request);
    if (request.param('userId') !== caller.userId) throw MatrixError.forbidden('A token is only given for oneself.');
    if (!caller.exemptFromRates) await this.rates.count(this.rates.openIdToken, caller.userId);
    return next();
  }
}
