import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { CallerIdentity } from './caller-identity.js';
import { rememberCaller } from './caller.decorator.js';
import { READS } from './edge.guard.js';

/** Finds out who asks, and keeps what changes state for administrators while an allowlist exists. */
export class IdentityGuard implements CanActivate {
  constructor(private readonly identity: CallerIdentity) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = this.identity.of(request.raw);
    rememberCaller(request, caller);
    if (!READS.includes(request.method)) this.identity.expectAdmin(caller, 'Changing something');
    return true;
  }
}
