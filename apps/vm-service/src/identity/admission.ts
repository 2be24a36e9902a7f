import {
  ApiTokens,
  BoundGrant,
  combineGrants,
  EVERYWHERE,
  RoleGrant,
  Roles,
  TokenGrant,
  type GrantRules,
} from '@headgate/access';
import {
  formatRef,
  parseRef,
  type AccessSubject,
  type ApiToken,
  type Caller,
  type FolderDirectory,
  type InstanceDirectory,
} from '@headgate/domain-contracts';
import { matchesScope } from '@headgate/fleet';
import { bearerToken } from './bearer-token.js';
import type { CallerIdentity } from './caller-identity.js';
import { CallerResolver } from './caller-resolver.js';
import type { PeerRequest } from './local-trust.js';

/** Admits callers by their API token, or else by the identity of their connection, and limits them to what they may do. */
export class Admission extends CallerResolver {
  constructor(
    private readonly identity: CallerIdentity,
    private readonly tokens: ApiTokens,
    private readonly roles: Roles,
    private readonly directory: InstanceDirectory,
    private readonly folders: FolderDirectory,
  ) {
    super();
  }

  override of(request: PeerRequest, route = ''): Caller {
    const origin = { address: this.identity.addressOf(request), route };
    const text = bearerToken(request.headers);
    // A request with a token has the rights of the token only, wherever it comes from.
    if (text !== undefined) return { ...this.ofToken(this.tokens.authenticate(text)), origin };
    const caller = this.identity.of(request);
    const grant = this.grantOf(caller.login, caller.admin);
    return { ...caller, origin, ...(grant ? { grant: this.bind(grant) } : {}) };
  }

  private ofToken(token: ApiToken): Caller {
    // Determined for every request: the creator may have lost rights since.
    const admin = this.identity.isAdmin(token.creator);
    const creator = this.grantOf(token.creator, admin) ?? (admin ? undefined : READER);
    return {
      login: token.creator,
      name: token.name,
      admin,
      token: token.id,
      grant: this.bind(combineGrants(new TokenGrant(token, matchesScope), creator, this.roles.ofToken(token.id))),
    };
  }

  private bind(rules: GrantRules): BoundGrant {
    return new BoundGrant(rules, (ref) => this.find(ref));
  }

  private find(text: string): AccessSubject | undefined {
    const instance = this.directory.get(parseRef(text));
    if (!instance) return undefined;
    const folder = this.folders.folderOf({ ref: formatRef(instance.ref), uid: instance.uid });
    return folder === undefined ? { instance } : { instance, folder };
  }

  private grantOf(login: string, admin: boolean): RoleGrant | undefined {
    return this.roles.isEnabled && !admin ? this.roles.ofLogin(login) : undefined;
  }
}

/** The rights of someone who is not on the allowlist of administrators. */
const READER = new RoleGrant('A caller who is not an administrator', [{ folder: EVERYWHERE, role: 'viewer' }]);
