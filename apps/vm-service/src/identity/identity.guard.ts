import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Admission } from './admission.js';
import { CallerIdentity } from './caller-identity.js';
import { rememberCaller } from './caller.decorator.js';
import { PROBES, READS } from './edge.guard.js';
import { LocalTrust } from './local-trust.js';

/** Identifies the caller. While an allowlist exists, only administrators may change anything; the access guard judges tokens and roles. */
@Injectable()
export class IdentityGuard implements CanActivate {
  constructor(
    private readonly admission: Admission,
    private readonly identity: CallerIdentity,
    private readonly trust: LocalTrust,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (PROBES.includes(request.routeOptions.url ?? '')) return true;
    if (this.isSignIn(request, http.getResponse<FastifyReply>())) return true;
    const caller = this.admission.of(request.raw, `${request.method} ${request.routeOptions.url}`);
    rememberCaller(request, caller);
    if (!caller.grant && !READS.includes(request.method)) this.identity.expectAdmin(caller, 'Changing anything');
    return true;
  }

  /** The page with the one-time token starts a session. */
  private isSignIn({ routeOptions, query }: FastifyRequest, reply: FastifyReply): boolean {
    const { token } = query as { token?: unknown };
    if (routeOptions.url !== '/' || typeof token !== 'string') return false;
    const cookie = this.trust.redeem(token);
    if (cookie !== undefined) void reply.header('set-cookie', cookie);
    return cookie !== undefined;
  }
}
