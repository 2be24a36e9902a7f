import {
  buildPlan,
  Change,
  DomainError,
  type ApiToken,
  type ApiTokenStore,
  type Audit,
  type Caller,
  type Clock,
  type Plan,
} from '@headgate/domain-contracts';
import { tokenNotFound, type ApiTokens } from './api-tokens.js';
import { expiryIn, type CreatedToken } from './create-token.js';
import { hashToken, newToken } from './token-text.js';

export interface RotateTokenDeps {
  readonly tokens: ApiTokens;
  readonly store: ApiTokenStore;
  readonly clock: Clock;
  readonly audit: Audit;
}

interface Prepared {
  readonly token: ApiToken;
  /** How many days it is valid from now on; undefined: as long as before. */
  readonly days: number | undefined;
}

/**
 * Gives an API token a new secret. It keeps its ID, and with it its roles and its entries in the journal; the former
 * secret is refused at once. The caller gets a credential, so it acts for them from now on, and not for its creator.
 */
export class RotateToken extends Change<[id: string, days: number | undefined], CreatedToken, Prepared> {
  constructor(private readonly deps: RotateTokenDeps) {
    super();
  }

  /** @throws DomainError TOKEN_NOT_FOUND; CONFLICT for an expired one without a new time */
  protected override prepare(id: string, days: number | undefined): Prepared {
    const { store, tokens } = this.deps;
    const token = store.get(id);
    if (!token) throw tokenNotFound(id);
    if (days === undefined && tokens.isExpired(token))
      throw new DomainError('CONFLICT', `The API token ${token.name} has expired: set days to make it valid again.`);
    return { token, days };
  }

  protected override async planPrepared({ token, days }: Prepared): Promise<Plan> {
    const { name } = token;
    const until = days === undefined ? '' : `, valid for ${days} days`;
    return buildPlan([
      { name: 'rotate token', detail: `${name} gets a new secret${until}; the former one is refused` },
      { name: 'close connections', detail: `streams and consoles of ${name}` },
    ]);
  }

  protected override async runPrepared({ token, days }: Prepared, caller: Caller): Promise<CreatedToken> {
    const { tokens, audit, clock } = this.deps;
    return audit.of(
      caller,
      'rotate token',
      `token/${token.name}`,
      async () => {
        const { text } = newToken(token.id);
        const change = {
          hash: hashToken(text),
          creator: caller.login,
          ...(days !== undefined && { expiresAt: expiryIn(days, clock) }),
        };
        // The secret of a request that loses would be refused.
        await tokens.change(token.id, change, token.hash);
        return { token: { ...token, ...change }, text };
      },
      () => token.id,
    );
  }
}
