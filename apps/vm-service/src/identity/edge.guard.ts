import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { EdgePolicy } from './edge-policy.js';

/** Probes come by address, from whoever runs the machine, and tell nothing. */
const PROBES = ['/healthz', '/readyz'];
export const READS: readonly string[] = ['GET', 'HEAD'];

/** Refuses requests of foreign pages and under foreign names. */
export class EdgeGuard implements CanActivate {
  constructor(private readonly policy: EdgePolicy) {}

  canActivate(context: ExecutionContext): boolean {
    const { headers, method, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    if (PROBES.includes(routeOptions.url ?? '')) return true;
    this.policy.checkHost(headers);
    if (!READS.includes(method)) this.policy.checkOrigin(headers);
    return true;
  }
}
