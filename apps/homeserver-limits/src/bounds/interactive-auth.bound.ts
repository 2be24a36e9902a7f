import { accountKey } from '@headgate/matrix-protocol';
import {
  type BoundedOperation,
  Identity,
  type MatrixRequest,
  type MatrixResponse,
} from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { Rules } from '../rules/rules.js';
import { Bound, type Next } from './bound.js';
import { authIn, outcomeOfGuess, passwordGuess } from './password-guess.js';

/** Requests that ask for the password again: each is an attempt to log in to the account that its `auth` names. */
@Injectable()
export class InteractiveAuthBound extends Bound {
  override readonly operations: readonly BoundedOperation[] = ['endTokens'];
  /** Whether the homeserver handles none of the requests without the right password. */
  protected readonly provesPassword: boolean = true;

  constructor(
    private readonly identity: Identity,
    private readonly rules: Rules,
    private readonly config: LiveConfig,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<MatrixResponse> {
    if (!request.hasBody) return next();
    const auth = authIn(await request.json(undefined, { optional: true }));
    const guess = auth && passwordGuess(auth, this.config.current.server.name);
    if (!guess) return next();
    const own = await this.ownAccount(request);
    // Some servers take the caller's own account when none is named.
    const { account = own } = guess;
    const provesPassword = this.provesPassword && account === own;
    return this.rules.run(request, [{ ...guess, account }], next, (response) =>
      outcomeOfGuess(response, provesPassword),
    );
  }

  /** Undefined when the request carries no live token: the homeserver then decides whether it needs one. */
  private async ownAccount(request: MatrixRequest): Promise<string | undefined> {
    const caller = await this.identity.callerOf(request).catch(() => undefined);
    return caller && accountKey({ user: caller.userId }, this.config.current.server.name);
  }
}

/** The same where a request may need no password, such as the first signing keys of a user and the same ones again. */
@Injectable()
export class OptionalAuthBound extends InteractiveAuthBound {
  override readonly operations = ['authenticate'] as const;
  protected override readonly provesPassword = false;
}
