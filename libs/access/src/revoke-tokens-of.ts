import { DomainError, foldName, type ApiTokenStore, type Audit, type Author } from '@headgate/domain-contracts';
import type { ApiTokens } from './api-tokens.js';

export interface RevokeTokensOfDeps {
  readonly tokens: ApiTokens;
  readonly store: ApiTokenStore;
  readonly audit: Audit;
}

/** Revokes the API tokens of a user who is gone, so that a later user of the same name does not have them. */
export class RevokeTokensOf {
  constructor(private readonly deps: RevokeTokensOfDeps) {}

  /** @param login of the creator of the tokens, in any case */
  async run(login: string, author: Author): Promise<void> {
    const { tokens, store, audit } = this.deps;
    const name = foldName(login);
    if (name === '') return;
    for (const token of store.all().filter(({ creator }) => foldName(creator) === name))
      try {
        await audit.of(
          author,
          'revoke token',
          `token/${token.name}`,
          () => tokens.revoke(token.id),
          () => `${token.id}, because the account ${login} has ended`,
        );
      } catch (error) {
        // Another request has revoked it meanwhile.
        if (!DomainError.is(error, 'TOKEN_NOT_FOUND')) throw error;
      }
  }
}
