import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { KnownGroups } from '@headgate/access';
import { DomainError } from '@headgate/domain-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Admission } from './admission.js';
import { BrowserSessions } from './browser-sessions.js';
import { rememberCaller } from '../platform/caller.decorator.js';
import { LocalTrust } from './local-trust.js';
import { needOf } from '../platform/needs.decorator.js';

/** Identifies the caller. The access guard decides what they may do. */
@Injectable()
export class IdentityGuard implements CanActivate {
  constructor(
    private readonly admission: Admission,
    private readonly trust: LocalTrust,
    private readonly browsers: BrowserSessions,
    private readonly groups: KnownGroups,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const need = needOf(context.getHandler());
    if (need?.of === 'anyone') return true;
    if (this.isSignIn(request, http.getResponse<FastifyReply>())) return true;
    await this.browsers.prepare(request.raw);
    try {
      const caller = this.admission.of(request.raw, `${request.method} ${request.routeOptions.url}`);
      rememberCaller(request, caller);
      // A proxy identifies the user of each request, so each is a login. A session has recorded them at its start.
      const { login, groups = [], token, session } = caller;
      if (token === undefined && session === undefined) await this.groups.note(login, groups);
    } catch (error) {
      if (need?.of !== 'visitor' || !DomainError.is(error, 'LOGIN_REQUIRED')) throw error;
    }
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
