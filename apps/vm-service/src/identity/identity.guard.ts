import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CallerIdentity } from './caller-identity.js';
import { rememberCaller } from './caller.decorator.js';
import { READS } from './edge.guard.js';

/** Identifies the caller. While an allowlist exists, only administrators may change anything. */
@Injectable()
export class IdentityGuard implements CanActivate {
  constructor(private readonly identity: CallerIdentity) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = this.identity.of(request.raw);
    rememberCaller(request, caller);
    if (!READS.includes(request.method)) this.identity.expectAdmin(caller, 'Changing anything');
    return true;
  }
}
