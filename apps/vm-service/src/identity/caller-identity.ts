import type { WhoamiView } from '@headgate/api-contracts';
import { BoundGrant, readerGrant, RoleGrant, Roles } from '@headgate/access';
import { ADMINISTRATOR, DomainError, type Author, type Caller, type Grant } from '@headgate/domain-contracts';
import { TrustedProxies } from '@headgate/nest-kit';
import type { LocalTrust, PeerRequest } from './local-trust.js';

export interface IdentityOptions {
  readonly admins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly loginHeader: string;
  readonly nameHeader: string;
}

const ANONYMOUS = { login: '', name: '' };

/** Identifies callers by the headers of a trusted proxy. The headers of any other peer are ignored. */
export class CallerIdentity {
  private readonly admins: ReadonlySet<string>;
  private readonly proxies: TrustedProxies;
  private readonly loginHeader: string;
  private readonly nameHeader: string;

  constructor(
    { admins, trustedProxies, loginHeader, nameHeader }: IdentityOptions,
    private readonly trust: LocalTrust,
    private readonly roles = new Roles([]),
  ) {
    this.admins = new Set(admins.map((login) => login.toLowerCase()));
    this.proxies = TrustedProxies.of(trustedProxies);
    this.loginHeader = loginHeader.toLowerCase();
    this.nameHeader = nameHeader.toLowerCase();
  }

  /** Whether an allowlist of administrators, or roles, exist. */
  get enforced(): boolean {
    return this.admins.size > 0 || this.roles.isEnabled;
  }

  /** Whether a user is an administrator of everything. */
  isAdmin(login: string): boolean {
    return !this.enforced || this.admins.has(login.toLowerCase()) || this.roles.isAdmin(login);
  }

  /** The address of the client, behind the trusted proxies. */
  addressOf(request: PeerRequest): string {
    const { socket, headers } = request;
    const isTrusted = this.trust.refusal(request) === undefined;
    return this.proxies.callerAddress(socket.remoteAddress ?? '', isTrusted ? headers['x-forwarded-for'] : undefined);
  }

  /** @throws DomainError NOT_PERMITTED for a local peer that is not trusted */
  of(request: PeerRequest): Pick<Author, 'login' | 'name'> {
    const refusal = this.trust.refusal(request);
    // Without an allowlist every caller is an administrator, so an untrusted peer is not let in at all.
    if (refusal !== undefined && !this.enforced) throw new DomainError('NOT_PERMITTED', refusal);
    const isTrusted = refusal === undefined && this.proxies.trusts(request.socket.remoteAddress ?? '');
    return isTrusted ? this.identityIn(request) : ANONYMOUS;
  }

  /** The rights of a user now. Those of roles are not bound to the instances yet. */
  rightsOf(login: string): Grant | RoleGrant {
    if (this.isAdmin(login)) return ADMINISTRATOR;
    return this.roles.isEnabled ? this.roles.ofLogin(login) : readerGrant(login);
  }

  whoami({ login, name, token, grant }: Caller): WhoamiView {
    const admin = this.isAdmin(login) && token === undefined;
    const base = { login, name, enforced: this.enforced, trust: this.trust.kind };
    if (token !== undefined) return { ...base, admin, token };
    const rules = grant instanceof BoundGrant ? grant.rules : undefined;
    if (!(rules instanceof RoleGrant)) return { ...base, admin };
    // The console offers its actions to everyone who may act somewhere; the service decides about each of them.
    const isActive = rules.entries.some(({ role }) => role !== 'viewer');
    return { ...base, admin: isActive, roles: rules.entries.map(({ folder, role }) => ({ folder, role })) };
  }

  /** Anonymous when a header occurs twice: one of the two could be the caller's own. */
  private identityIn(request: PeerRequest): { login: string; name: string } {
    const logins = valuesOf(request, this.loginHeader);
    const names = valuesOf(request, this.nameHeader);
    const [login = '', name = ''] = [logins[0], names[0]];
    // A server on the way may have joined two headers into one with a comma, which no login has.
    if (logins.length > 1 || names.length > 1 || login.includes(',')) return ANONYMOUS;
    return { login, name: decodeEncodedWord(name) };
  }
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
