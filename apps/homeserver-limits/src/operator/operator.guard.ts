import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { digest } from '@headgate/homeserver-contracts';
import { MatrixError } from '@headgate/matrix-protocol';
import { type CanActivate, type ExecutionContext, SetMetadata } from '@nestjs/common';

const PUBLIC = 'headgate:public';

/** A route that everyone may call: it reveals nothing, and orchestrators have no token. */
export const Public = () => SetMetadata(PUBLIC, true);

/**
 * Admits callers with the token, or, where there is none, callers of the loopback address. Web pages are never
 * admitted.
 */
export class OperatorGuard implements CanActivate {
  constructor(private readonly token?: string) {}

  /** @throws MatrixError 401 M_UNKNOWN_TOKEN, 403 M_FORBIDDEN */
  canActivate(context: ExecutionContext): boolean {
    if (Reflect.getMetadata(PUBLIC, context.getHandler()) === true) return true;
    const { headers } = context.switchToHttp().getRequest<{ headers: IncomingHttpHeaders }>();
    // A page in the operator's browser could reach a loopback listener. It sends an Origin, tools do not.
    if (headers.origin !== undefined) throw MatrixError.forbidden('This API is not for web pages.');
    if (this.token === undefined) requireLoopbackName(headers.host);
    else requireToken(headers.authorization, this.token);
    return true;
  }
}

/** Without a token, a page could still reach the listener under a name of its own that resolves to it. */
function requireLoopbackName(host = ''): void {
  if (!/^(?:127\.[0-9.]+|\[::1\]|localhost)(?::[0-9]+)?$/.test(host)) {
    throw MatrixError.forbidden('Without operator.token, this API is available under its loopback address only.');
  }
}

function requireToken(authorization = '', token: string): void {
  const given = /^Bearer (\S+)$/.exec(authorization)?.[1] ?? '';
  // Digests have the same length, so the comparison takes the same time for every token.
  if (!timingSafeEqual(Buffer.from(digest(given)), Buffer.from(digest(token)))) throw MatrixError.unknownToken();
}
