import type { WhoamiView } from '@headgate/api-contracts';
import { DomainError, type Caller } from '@headgate/domain-contracts';
import { TrustedProxies } from '@headgate/nest-kit';
import { CallerResolver } from './caller-resolver.js';
import type { LocalTrust, PeerRequest } from './local-trust.js';

export interface IdentityOptions {
  readonly admins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly loginHeader: string;
  readonly nameHeader: string;
}

const ANONYMOUS = { login: '', name: '' };

/** Identifies callers by the headers of a trusted proxy. The headers of any other peer are ignored. */
export class CallerIdentity extends CallerResolver {
  private readonly admins: ReadonlySet<string>;
  private readonly proxies: TrustedProxies;
  private readonly loginHeader: string;
  private readonly nameHeader: string;

  constructor(
    { admins, trustedProxies, loginHeader, nameHeader }: IdentityOptions,
    private readonly trust: LocalTrust,
  ) {
    super();
    this.admins = new Set(admins.map((login) => login.toLowerCase()));
    this.proxies = TrustedProxies.of(trustedProxies);
    this.loginHeader = loginHeader.toLowerCase();
    this.nameHeader = nameHeader.toLowerCase();
  }

  /** Whether an allowlist of administrators exists. */
  get enforced(): boolean {
    return this.admins.size > 0;
  }

  override of(request: PeerRequest): Caller {
    const refusal = this.trust.refusal(request);
    // Without an allowlist every caller is an administrator, so an untrusted peer is not let in at all.
    if (refusal !== undefined && !this.enforced) throw new DomainError('NOT_PERMITTED', refusal);
    const isTrusted = refusal === undefined && this.proxies.trusts(request.socket.remoteAddress ?? '');
    const { login, name } = isTrusted ? this.identityIn(request) : ANONYMOUS;
    return { login, name, admin: !this.enforced || this.admins.has(login.toLowerCase()) };
  }

  whoami(caller: Caller): WhoamiView {
    return { ...caller, enforced: this.enforced, trust: this.trust.kind };
  }

  /** @throws DomainError NOT_PERMITTED */
  expectAdmin(caller: Caller, action: string): void {
    if (!caller.admin)
      throw new DomainError(
        'NOT_PERMITTED',
        `${action} is for administrators; ${caller.login || 'a caller without a login'} is not one.`,
      );
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
