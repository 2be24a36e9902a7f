import type { IncomingMessage } from 'node:http';
import type { WhoamiView } from '@headgate/api-contracts';
import { DomainError, type Caller } from '@headgate/domain-contracts';
import { TrustedProxies } from '@headgate/nest-kit';

export interface IdentityOptions {
  readonly admins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly loginHeader: string;
  readonly nameHeader: string;
}

/** What identifies a caller: headers that a trusted proxy added. From anyone else they are ignored. */
export class CallerIdentity {
  private readonly admins: ReadonlySet<string>;
  private readonly proxies: TrustedProxies;
  private readonly loginHeader: string;
  private readonly nameHeader: string;

  constructor({ admins, trustedProxies, loginHeader, nameHeader }: IdentityOptions) {
    this.admins = new Set(admins.map((login) => login.toLowerCase()));
    this.proxies = TrustedProxies.of(trustedProxies);
    this.loginHeader = loginHeader.toLowerCase();
    this.nameHeader = nameHeader.toLowerCase();
  }

  /** Whether an allowlist of administrators exists. */
  get enforced(): boolean {
    return this.admins.size > 0;
  }

  of(request: Pick<IncomingMessage, 'headers' | 'socket'>): Caller {
    const believed = this.proxies.trusts(request.socket.remoteAddress ?? '');
    const login = believed ? single(request.headers[this.loginHeader]) : '';
    const name = believed ? single(request.headers[this.nameHeader]) : '';
    return { login, name, admin: !this.enforced || this.admins.has(login.toLowerCase()) };
  }

  whoami(caller: Caller): WhoamiView {
    return { ...caller, enforced: this.enforced };
  }

  /** @throws DomainError NOT_PERMITTED */
  expectAdmin(caller: Caller, what: string): void {
    if (!caller.admin)
      throw new DomainError('NOT_PERMITTED', `${what} is for administrators; ${caller.login || 'nobody'} is none.`);
  }
}

/** A header that is there twice tells nothing: whichever is the caller's own would be believed. */
const single = (header: string | string[] | undefined): string => {
  const text = typeof header === 'string' ? header.trim() : '';
  return decodeEncodedWord(text);
};

/** Names beyond ASCII travel as RFC 2047 encoded words. */
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
