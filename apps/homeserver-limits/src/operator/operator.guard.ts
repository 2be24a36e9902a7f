import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { digest } from '@headgate/homeserver-contracts';
import { MatrixError } from '@headgate/matrix-protocol';
import { type CanActivate, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { OperatorIdentity } from '../state/operator-entry.js';

const PUBLIC = 'headgate:public';

/** A route that everyone may call: it reveals nothing, and orchestrators have no token. */
export const Public = () => SetMetadata(PUBLIC, true);

interface GuardedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly ip: string;
  /** Set by the guard. */
  operator?: string;
}

/** The operator who sent a request, as `OperatorIdentity`. */
export const Operator = createParamDecorator((_: unknown, context: ExecutionContext): OperatorIdentity => {
  const { operator = '', ip } = context.switchToHttp().getRequest<GuardedRequest>();
  return { operator, address: ip };
});

/** The tokens by the names of their operators. */
export type OperatorTokenTable = Readonly<Record<string, string>>;

/** The operator of a listener without tokens. */
const LOCAL = 'local';

/**
 * Admits callers with a token, or, where there is none, callers of the loopback address. Of web pages, only the desk,
 * which the listener serves, is admitted. Credentials are in a header that browsers never add on their own.
 */
export class OperatorGuard implements CanActivate {
  private readonly tokens: readonly (readonly [name: string, digest: Buffer])[];

  constructor(tokens: OperatorTokenTable = {}) {
    this.tokens = Object.entries(tokens).map(([name, token]) => [name, Buffer.from(digest(token))]);
  }

  /** @throws MatrixError 401 M_UNKNOWN_TOKEN, 403 M_FORBIDDEN */
  canActivate(context: ExecutionContext): boolean {
    if (Reflect.getMetadata(PUBLIC, context.getHandler()) === true) return true;
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    refuseOtherPages(request.headers);
    if (this.tokens.length === 0) requireLoopbackName(request.headers.host);
    request.operator = this.tokens.length === 0 ? LOCAL : this.operatorOf(request.headers.authorization);
    return true;
  }

  private operatorOf(authorization = ''): string {
    const given = Buffer.from(digest(/^Bearer (\S+)$/.exec(authorization)?.[1] ?? ''));
    // Digests have the same length, so the comparison takes the same time for every token; and all are compared.
    const matching = this.tokens.filter(([, token]) => timingSafeEqual(given, token));
    if (!matching[0]) throw MatrixError.unknownToken();
    return matching[0][0];
  }
}

/**
 * A page in the operator's browser could reach a loopback listener. Browsers send an Origin with each request that
 * changes something, and Sec-Fetch-Site with all requests; tools send neither.
 */
function refuseOtherPages({ origin, host, 'sec-fetch-site': site = 'none' }: IncomingHttpHeaders): void {
  const isOwn = origin === undefined || (host !== undefined && /^https?:\/\/(.+)$/.exec(origin)?.[1] === host);
  if (isOwn && (site === 'none' || site === 'same-origin')) return;
  throw MatrixError.forbidden('This API is not for web pages of other origins.');
}

/** Without a token, a page could still reach the listener under a name of its own that resolves to it. */
function requireLoopbackName(host = ''): void {
  if (!/^(?:127\.[0-9.]+|\[::1\]|localhost)(?::[0-9]+)?$/.test(host)) {
    throw MatrixError.forbidden('Without operator.token, this API is available under its loopback address only.');
  }
}
