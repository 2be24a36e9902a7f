import type { IncomingHttpHeaders } from 'node:http';
import { MatrixError } from '@headgate/matrix-protocol';
import { type CanActivate, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { OperatorIdentity } from '../state/operator-entry.js';
import { type NamedTokens, TokenNames } from './named-tokens.js';

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

/** The operator of a listener without tokens. */
const LOCAL = 'local';

/**
 * Admits callers with a token, or, where there is none, callers of the loopback address. Of web pages, only the desk,
 * which the listener serves, is admitted. Credentials are in a header that browsers never add on their own.
 */
export class OperatorGuard implements CanActivate {
  private readonly operators: TokenNames;

  constructor(tokens: NamedTokens = {}) {
    this.operators = new TokenNames(tokens);
  }

  /** @throws MatrixError 401 M_UNKNOWN_TOKEN, 403 M_FORBIDDEN */
  canActivate(context: ExecutionContext): boolean {
    if (Reflect.getMetadata(PUBLIC, context.getHandler()) === true) return true;
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    refuseOtherPages(request.headers);
    if (this.operators.isEmpty) requireLoopbackName(request.headers.host);
    request.operator = this.operators.isEmpty ? LOCAL : this.operatorOf(request.headers.authorization);
    return true;
  }

  private operatorOf(authorization = ''): string {
    const operator = this.operators.nameOf(/^Bearer (\S+)$/.exec(authorization)?.[1] ?? '');
    if (operator === undefined) throw MatrixError.unknownToken();
    return operator;
  }
}

/**
 * A page in the operator's browser could reach a loopback listener. Browsers send an Origin with each request that
 * changes something, and Sec-Fetch-Site with all requests; tools send neither.
 */
export function refuseOtherPages({ origin, host, 'sec-fetch-site': site = 'none' }: IncomingHttpHeaders): void {
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
