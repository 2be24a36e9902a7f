import type { WhoamiView } from '@headgate/api-contracts';
import {
  BoundGrant,
  EVERYWHERE,
  LiveRights,
  presentScope,
  RoleGrant,
  Roles,
  UserRights,
  type GroupsAsOf,
  type HeldRole,
  type KnownGroups,
  type LoginUsers,
  type RoleHolder,
} from '@headgate/access';
import { DomainError, type Author, type Caller } from '@headgate/domain-contracts';
import { TrustedProxies } from '@headgate/nest-kit';
import type { LocalTrust, PeerRequest } from './local-trust.js';

export interface IdentityOptions {
  readonly admins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly loginHeader: string;
  readonly nameHeader: string;
  /** Absent: no proxy reports groups. */
  readonly groupsHeader?: string | undefined;
  /** Present: users log in here. */
  readonly login?: { readonly proxyIdentity: boolean } | undefined;
}

const ANONYMOUS = { login: '', name: '' };
/** More than a provider reports of one user. */
const MAX_GROUPS = 1000;

type Identity = Pick<Author, 'login' | 'name' | 'groups'>;

/** Identifies callers by the headers of a trusted proxy. The headers of any other peer are ignored. */
export class CallerIdentity {
  /** The rights of all users. */
  readonly rights: UserRights;
  private readonly proxies: TrustedProxies;
  private readonly loginHeader: string;
  private readonly nameHeader: string;
  private readonly groupsHeader: string | undefined;
  private readonly login: IdentityOptions['login'];

  constructor(
    { admins, trustedProxies, loginHeader, nameHeader, groupsHeader, login }: IdentityOptions,
    private readonly trust: LocalTrust,
    roles = new Roles([]),
    users?: LoginUsers,
    private readonly groups?: Pick<KnownGroups, 'of' | 'find'>,
  ) {
    this.rights = new UserRights(admins, roles, users);
    this.login = login;
    this.proxies = TrustedProxies.of(trustedProxies);
    this.loginHeader = loginHeader.toLowerCase();
    this.nameHeader = nameHeader.toLowerCase();
    this.groupsHeader = groupsHeader?.toLowerCase();
  }

  /** Whether an allowlist of administrators, roles, or a login exist. */
  get enforced(): boolean {
    return this.rights.enforced;
  }

  /** The address of the client, behind the trusted proxies. */
  addressOf(request: PeerRequest): string {
    const { socket, headers } = request;
    const isTrusted = this.trust.refusal(request) === undefined;
    return this.proxies.callerAddress(socket.remoteAddress ?? '', isTrusted ? headers['x-forwarded-for'] : undefined);
  }

  /** Whether the connection comes from a proxy whose headers are believed. */
  isFromProxy(request: PeerRequest): boolean {
    return this.trust.refusal(request) === undefined && this.proxies.trusts(request.socket.remoteAddress ?? '');
  }

  /** @throws DomainError NOT_PERMITTED for a local peer that is not trusted */
  of(request: PeerRequest): Identity {
    const refusal = this.trust.refusal(request);
    // Without an allowlist every caller is an administrator, so an untrusted peer is not let in at all.
    if (refusal !== undefined && !this.enforced) throw new DomainError('NOT_PERMITTED', refusal);
    // A proxy that only passes requests on would pass on the headers of anyone, too.
    const isExpected = this.login?.proxyIdentity !== false;
    return isExpected && this.isFromProxy(request) ? this.identityIn(request) : ANONYMOUS;
  }

  /** The rights of a user, now and later. They are not bound to the instances yet. */
  rightsOf(holder: RoleHolder): LiveRights {
    return this.rights.of(holder);
  }

  /** Those of a user who is not present, with the groups of their last login. */
  rightsOfAbsent(login: string): LiveRights {
    const { groups } = this;
    return this.rights.of({ login, ...(groups && { groups: () => groups.of(login) }) });
  }

  /** The groups of a user who is not present; undefined if none count. */
  groupsOfAbsent(login: string): GroupsAsOf | undefined {
    return this.groups?.find(login);
  }

  whoami({ login, name, groups, token, grant, session }: Caller): WhoamiView {
    const base = { login, name, enforced: this.enforced, trust: this.trust.kind };
    if (token !== undefined) return { ...base, admin: false, token };
    const own = {
      ...base,
      ...(groups !== undefined && { groups: [...groups] }),
      ...(session !== undefined && { session }),
    };
    const rules = grant instanceof BoundGrant ? grant.rules : grant;
    const current = rules instanceof LiveRights ? rules.current : rules;
    if (!(current instanceof RoleGrant)) return { ...own, admin: current.kind === 'administrator' };
    const { held } = current;
    // The console offers its actions to everyone who may act somewhere; the service decides about each of them.
    const isActive = held.some(({ role }) => role !== 'viewer');
    return { ...own, admin: isActive, roles: held.map((role) => ({ ...placeOf(role), role: role.role })) };
  }

  /** Anonymous when a header occurs twice: one of the two could be the caller's own. */
  private identityIn(request: PeerRequest): Identity {
    const logins = valuesOf(request, this.loginHeader);
    const names = valuesOf(request, this.nameHeader);
    const [login = '', name = ''] = [logins[0], names[0]];
    // A server on the way may have joined two headers into one with a comma, which no login has.
    if (logins.length > 1 || names.length > 1 || login.includes(',')) return ANONYMOUS;
    const identity = { login, name: decodeEncodedWord(name) };
    if (this.groupsHeader === undefined || login === '') return identity;
    const lists = valuesOf(request, this.groupsHeader);
    return lists.length > 1 ? ANONYMOUS : { ...identity, groups: groupsIn(lists[0] ?? '') };
  }
}

/** Groups are separated by commas, so the name of a group can't have one. Those beyond the limit give no rights. */
const groupsIn = (text: string): string[] =>
  [...new Set(text.split(',').map((group) => group.trim()))].filter((group) => group !== '').slice(0, MAX_GROUPS);

function placeOf(role: HeldRole): { folder?: string; context?: string } {
  const { folder, context } = presentScope(role) ?? {};
  return context === undefined ? { folder: folder ?? EVERYWHERE } : { context };
}

/** Every value of a header. Node joins repeated headers in `headers`, but not in `rawHeaders`. */
function valuesOf({ headers, rawHeaders = [] }: PeerRequest, name: string): string[] {
  const raw = rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
  const values = raw.length > 0 ? raw : [headers[name] ?? []].flat();
  return values.map((value) => value.trim());
}

/** Proxies send names beyond ASCII as encoded words (RFC 2047). */
function decodeEncodedWord(text: string): string {
  return text.replace(/=\?utf-8\?q\?([^?]*)\?=/gi, (_, words: string) =>
    Buffer.from(
      words
        .replaceAll('_', ' ')
        .replace(/=([0-9A-F]{2})/gi, (__, hex: string) => String.fromCharCode(parseInt(hex, 16))),
      'latin1',
    ).toString('utf8'),
  );
}
