import { expectAllowed } from '@headgate/access';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { callerOf } from '../platform/caller.decorator.js';
import { needOf } from '../platform/needs.decorator.js';
import { READS } from './edge.guard.js';
import { RequestTargets } from './request-targets.js';

/** Asks the policy whether the caller may have what the route needs, before the route runs. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(private readonly targets: RequestTargets) {}

  canActivate(context: ExecutionContext): boolean {
    const need = needOf(context.getHandler());
    // The start refuses such a route.
    if (!need) throw new Error(`${context.getClass().name}.${context.getHandler().name} states no need`);
    // A browser without an identity is let in to the page and its login only.
    if (need.of === 'anyone' || need.of === 'visitor') return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { grant } = callerOf(request);
    const isRead = READS.includes(request.method);
    for (const target of this.targets.of(need, request, grant)) expectAllowed(grant, need, { ...target, isRead });
    return true;
  }
}
