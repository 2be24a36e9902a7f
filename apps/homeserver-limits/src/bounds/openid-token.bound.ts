import { MatrixError } from '@headgate/matrix-protocol';
import { type MatrixResponse, Identity, type MatrixRequest } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { Bound, type Next } from './bound.js';
import { factsOf } from './caller-facts.js';
import { Rules } from '../rules/rules.js';

/**
 * OpenID tokens: every request counts, before the token is created. A request for another user never succeeds, so it
 * does not count.
 */
@Injectable()
export class OpenIdTokenBound extends Bound {
  override readonly operations = ['openIdToken'] as const;

  constructor(
    private readonly identity: Identity,
    private readonly rules: Rules,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    const caller = await this.identity.callerOf(request);
    if (request.param('userId') !== caller.userId)
      throw MatrixError.forbidden('You can request an OpenID token for your own account only.');
    if (caller.exemptFromRates) return next();
    return this.rules.run(request, [{ event: 'openid_token', ...factsOf(caller) }], next);
  }
}
