import type { IncomingMessage } from 'node:http';
import type { WhoamiView } from '@headgate/api-contracts';
import { DomainError, type Caller } from '@headgate/domain-contracts';
import { TrustedProxies } from '@headgate/nest-kit';
import { CallerResolver } from './caller-resolver.js';

export interface IdentityOptions {
  readonly admins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly loginHeader: string;
  readonly nameHeader: string;
}

/** Identifies callers by the headers of a trusted proxy. The headers of any other peer are ignored. */
export class CallerIdentity extends CallerResolver {
  private readonly admins: ReadonlySet<string>;
  private readonly proxies: TrustedProxies;
  private readonly loginHeader: string;
  private readonly nameHeader: string;

  constructor({ admins, trustedProxies, loginHeader, nameHeader }: IdentityOptions) {
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

  override of(request: Pick<IncomingMessage, 'headers' | 'socket'>): Caller {
    const isTrusted = this.proxies.trusts(request.socket.remoteAddress ?? '');
    const login = isTrusted ? valueOf(request.headers[this.loginHeader]) : '';
    const name = isTrusted ? valueOf(request.headers[this.nameHeader]) : '';
    return { login, name, admin: !this.enforced || this.admins.has(login.toLowerCase()) };
  }

  whoami(caller: Caller): WhoamiView {
    return { ...caller, enforced: this.enforced };
  }

  /** @throws DomainError NOT_PERMITTED */
  expectAdmin(caller: Caller, action: string): void {
    if (!caller.admin)
      throw new DomainError(
        'NOT_PERMITTED',
        `${action} is for administrators; ${caller.login || 'a caller without a login'} is not one.`,
      );
  }
}

/** Empty for a header that occurs twice: one of the two could be the caller's own. */
const valueOf = (header: string | string[] | undefined): string => {
  const text = typeof header === 'string' ? header.trim() : '';
  return decodeEncodedWord(text);
};

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
