import { ApiTokens, BoundGrant, combineGrants, Roles, TokenGrant, type GrantRules } from '@headgate/access';
import {
  parseRef,
  type AccessSubject,
  type ApiToken,
  type Caller,
  type Grant,
  type InstanceDirectory,
} from '@headgate/domain-contracts';
import { matchesScope } from '@headgate/fleet';
import { bearerToken } from './bearer-token.js';
import type { CallerIdentity } from './caller-identity.js';
import { CallerResolver } from './caller-resolver.js';
import type { InstanceAccess } from './instance-access.js';
import type { PeerRequest } from './local-trust.js';

/**
 * Admits callers by their API token, or else by the identity of their connection, and gives them the grant with their
 * rights.
 */
export class Admission extends CallerResolver {
  constructor(
    private readonly identity: CallerIdentity,
    private readonly tokens: ApiTokens,
    private readonly roles: Roles,
    private readonly directory: InstanceDirectory,
    private readonly instances: InstanceAccess,
  ) {
    super();
  }

  override of(request: PeerRequest, route = ''): Caller {
    const origin = { address: this.identity.addressOf(request), route };
    const text = bearerToken(request.headers);
    // A request with a token has the rights of the token only, wherever it comes from.
    if (text !== undefined) return { ...this.ofToken(this.tokens.authenticate(text)), origin };
    const identity = this.identity.of(request);
    return { ...identity, origin, grant: this.bind(this.identity.rightsOf(identity)) };
  }

  /**
   * A user with the rights that they have now, for work that they have planned. With a token, the rights are also those
   * of the token.
   * @throws DomainError NOT_PERMITTED for a token that is expired or revoked
   */
  ofOwner({ login, token }: { readonly login: string; readonly token?: string | undefined }): Caller {
    if (token !== undefined) return this.ofToken(this.tokens.expectUsable(token));
    return { login, name: '', grant: this.bind(this.identity.rightsOf({ login })) };
  }

  private ofToken(token: ApiToken): Caller {
    // The creator may lose rights meanwhile. Their groups are known with their own requests only.
    const creator = this.identity.rightsOf({ login: token.creator });
    const rules = combineGrants(new TokenGrant(token, matchesScope), creator, this.roles.ofToken(token.id));
    return { login: token.creator, name: token.name, token: token.id, grant: this.bind(rules) };
  }

  private bind(rules: GrantRules): Grant {
    return new BoundGrant(rules, (ref) => this.find(ref));
  }

  private find(text: string): AccessSubject | undefined {
    const instance = this.directory.get(parseRef(text));
    return instance && this.instances.subjectOf(instance);
  }
}
