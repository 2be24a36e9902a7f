import { accountKey, type JsonObject } from '@headgate/matrix-protocol';
import {
  type BoundedOperation,
  type Caller,
  Identity,
  type MatrixRequest,
  type MatrixResponse,
} from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { Rules } from '../rules/rules.js';
import { Bound, type Next } from './bound.js';
import { factsOf } from './caller-facts.js';
import { authIn, outcomeOfGuess, passwordGuess } from './password-guess.js';

/**
 * Requests that ask for the password again: each is an attempt to log in to the account that its `auth` names. Proofs
 * of other stages count for the caller's own account, if a rule counts them.
 */
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
    if (!auth) return next();
    const guess = passwordGuess(auth, this.config.current.server.name);
    if (!guess) return this.runStage(request, auth, next);
    const own = this.accountOf(await this.callerOf(request));
    // Some servers take the caller's own account when none is named.
    const { account = own } = guess;
    const provesPassword = this.provesPassword && account === own;
    return this.rules.run(request, [{ ...guess, account }], next, (response) =>
      outcomeOfGuess(response, provesPassword),
    );
  }

  private async runStage(request: MatrixRequest, { type }: JsonObject, next: Next): Promise<MatrixResponse> {
    if (!this.rules.count('interactive_auth')) return next();
    const caller = await this.callerOf(request);
    if (caller?.exemptFromRates) return next();
    const part = {
      event: 'interactive_auth',
      account: this.accountOf(caller),
      ...(caller && factsOf(caller)),
    } as const;
    return this.rules.run(request, [part], next, (response) => outcomeOfGuess(response, false, type ?? null));
  }

  /** Undefined when the request carries no live token: the homeserver then decides whether it needs one. */
  private callerOf(request: MatrixRequest): Promise<Caller | undefined> {
    return this.identity.callerOf(request).catch(() => undefined);
  }

  private accountOf(caller: Caller | undefined): string | undefined {
    return caller && accountKey({ user: caller.userId }, this.config.current.server.name);
  }
}

/** The same where a request may need no password, such as the first signing keys of a user and the same ones again. */
@Injectable()
export class OptionalAuthBound extends InteractiveAuthBound {
  override readonly operations = ['authenticate'] as const;
  protected override readonly provesPassword = false;
}
