import {
  buildPlan,
  Change,
  type ApiToken,
  type ApiTokenStore,
  type Audit,
  type Caller,
  type Plan,
} from '@headgate/domain-contracts';
import { tokenNotFound, type ApiTokens } from './api-tokens.js';

/** Revokes an API token. Its streams and consoles are closed. */
export class RevokeToken extends Change<[id: string], void, ApiToken> {
  constructor(
    private readonly tokens: ApiTokens,
    private readonly store: ApiTokenStore,
    private readonly audit: Audit,
  ) {
    super();
  }

  protected override async planPrepared({ name }: ApiToken): Promise<Plan> {
    return buildPlan([{ name: 'revoke token', detail: name }]);
  }

  protected override async runPrepared({ id, name }: ApiToken, caller: Caller): Promise<void> {
    await this.audit.of(
      caller,
      'revoke token',
      `token/${name}`,
      () => this.tokens.revoke(id),
      () => id,
    );
  }

  /** @throws DomainError TOKEN_NOT_FOUND */
  protected override prepare(id: string): ApiToken {
    const token = this.store.get(id);
    if (!token) throw tokenNotFound(id);
    return token;
  }
}
