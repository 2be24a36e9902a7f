import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { knownCallerOf, rememberCaller } from './caller.decorator.js';
import { RouteAccess } from './route-access.js';

/** Refuses what the API token or the roles of a caller do not allow. Callers without either were judged by the identity guard. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(private readonly access: RouteAccess) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = knownCallerOf(request);
    if (caller?.grant) rememberCaller(request, this.access.admit(request, caller, caller.grant));
    return true;
  }
}
