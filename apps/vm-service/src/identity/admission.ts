import { ApiTokens, BoundGrant, combineGrants, Roles, TokenGrant, type GrantRules } from '@headgate/access';
import {
  DomainError,
  parseRef,
  type AccessSubject,
  type ApiToken,
  type Caller,
  type Grant,
  type InstanceDirectory,
  type Leash,
} from '@headgate/domain-contracts';
import { matchesScope } from '@headgate/fleet';
import { AddressRanges } from '@headgate/nest-kit';
import { bearerToken } from './bearer-token.js';
import type { BrowserSessions } from './browser-sessions.js';
import type { CallerIdentity } from './caller-identity.js';
import { CallerResolver } from './caller-resolver.js';
import type { EdgePolicy } from './edge-policy.js';
import { READS } from './edge.guard.js';
import type { InstanceAccess } from './instance-access.js';
import type { PeerRequest } from './local-trust.js';

export interface AdmissionDeps {
  readonly identity: CallerIdentity;
  readonly tokens: ApiTokens;
  readonly roles: Roles;
  readonly directory: InstanceDirectory;
  readonly instances: InstanceAccess;
  readonly browsers: BrowserSessions;
  readonly edge: EdgePolicy;
}

/**
 * Admits callers by their API token, by the identity of their connection, or by their session, and gives them the grant
 * with their rights.
 */
export class Admission extends CallerResolver {
  constructor(private readonly deps: AdmissionDeps) {
    super();
  }

  override of(request: PeerRequest, route = ''): Caller {
    const origin = { address: this.deps.identity.addressOf(request), route };
    const text = bearerToken(request.headers);
    // A request with a token has the rights of the token only, wherever it comes from.
    if (text !== undefined) {
      const isFrom = (addresses: readonly string[]): boolean => new AddressRanges(addresses).has(origin.address);
      return { ...this.ofToken(this.deps.tokens.authenticate(text, isFrom)), origin };
    }
    const identity = this.deps.identity.of(request);
    // The proxy has identified the user of this very request; a cookie may be of another one.
    if (identity.login === '' && this.deps.browsers.areUsed) return { ...this.ofSession(request), origin };
    return { ...identity, origin, grant: this.bind(this.deps.identity.rightsOf(identity)) };
  }

  /** @throws DomainError LOGIN_REQUIRED; FOREIGN_ORIGIN for a change that is not known to come from our page */
  private ofSession(request: PeerRequest): Caller {
    const session = this.deps.browsers.of(request);
    if (!session) throw new DomainError('LOGIN_REQUIRED', 'Log in first: the session has ended, or there is none.');
    if (!READS.includes(request.method ?? 'GET') || request.headers.upgrade !== undefined)
      this.deps.edge.checkOwnPage(request.headers);
    const { login, name, groups, id } = session;
    return { login, name, groups, session: id, grant: this.bind(this.deps.identity.rightsOf({ login, groups })) };
  }

  /**
   * A user with the rights that they have now, for work that they have planned. With a token, the rights are also those
   * of the token.
   * @throws DomainError NOT_PERMITTED for a token that is expired or revoked
   */
  ofOwner({ login, token }: { readonly login: string; readonly token?: string | undefined }): Caller {
    if (token !== undefined) return this.ofToken(this.deps.tokens.expectUsable(token));
    return { login, name: '', grant: this.bind(this.deps.identity.rightsOfAbsent(login)) };
  }

  /**
   * An agent with the rights to what it has rehearsed, for the rehearsal and the commit only.
   * @throws DomainError NOT_PERMITTED for a token that is expired, revoked or stopped, or has no leash
   */
  ofAgent(id: string): { readonly token: ApiToken; readonly leash: Leash; readonly caller: Caller } {
    const token = this.deps.tokens.expectUsable(id);
    expectRunning(token);
    const { agent: leash } = token;
    if (!leash) throw new DomainError('NOT_PERMITTED', `The API token ${token.name} has no leash.`);
    return { token, leash, caller: this.callerOf(token, TokenGrant.ofRehearsals(token, matchesScope)) };
  }

  private ofToken(token: ApiToken): Caller {
    expectRunning(token);
    return this.callerOf(token, new TokenGrant(token, matchesScope));
  }

  private callerOf(token: ApiToken, own: GrantRules): Caller {
    // The creator may lose rights meanwhile.
    const creator = this.deps.identity.rightsOfAbsent(token.creator);
    const rules = combineGrants(own, creator, this.deps.roles.ofToken(token.id));
    return { login: token.creator, name: token.name, token: token.id, grant: this.bind(rules) };
  }

  private bind(rules: GrantRules): Grant {
    return new BoundGrant(rules, (ref) => this.find(ref));
  }

  private find(text: string): AccessSubject | undefined {
    const instance = this.deps.directory.get(parseRef(text));
    return instance && this.deps.instances.subjectOf(instance);
  }
}

/** @throws DomainError NOT_PERMITTED */
function expectRunning({ name, isStopped }: ApiToken): void {
  if (isStopped) throw new DomainError('NOT_PERMITTED', `An administrator has stopped the agent ${name}.`);
}
