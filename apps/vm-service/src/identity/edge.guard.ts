import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { bearerToken } from './bearer-token.js';
import { EdgePolicy } from './edge-policy.js';
import { needOf } from '../platform/needs.decorator.js';

export const READS: readonly string[] = ['GET', 'HEAD'];

/** Refuses requests from the pages of other sites and requests for other host names. */
@Injectable()
export class EdgeGuard implements CanActivate {
  constructor(private readonly policy: EdgePolicy) {}

  canActivate(context: ExecutionContext): boolean {
    // Probes are sent to an IP address by the platform, and their answers hold no data.
    const need = needOf(context.getHandler());
    if (need?.of === 'anyone') return true;
    const { headers, method } = context.switchToHttp().getRequest<FastifyRequest>();
    this.policy.checkHost(headers);
    // The protocol of agents demands it, whatever credentials they have.
    if (need?.of === 'agent') this.policy.checkOrigin(headers);
    // A page of another site can't send the header, and a browser never adds it: the request has no rights but those of
    // its token.
    if (bearerToken(headers) !== undefined) return true;
    if (READS.includes(method)) this.policy.checkRead(headers);
    else this.policy.checkOrigin(headers);
    return true;
  }
}
