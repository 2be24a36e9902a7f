import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { DomainError } from '@headgate/domain-contracts';
import type { FastifyRequest } from 'fastify';
import { READS } from '../identity/edge.guard.js';
import { RECORDED_READS } from '../journal/request-recorder.js';
import { Readiness } from '../platform/readiness.js';

/**
 * Refuses changes, and reads that are recorded, until the registry is open, and while its disk is full: each is
 * recorded there with its author.
 */
@Injectable()
export class ReadinessGuard implements CanActivate {
  constructor(private readonly readiness: Readiness) {}

  canActivate(context: ExecutionContext): boolean {
    const { method, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    if (READS.includes(method) && !RECORDED_READS.includes(routeOptions.url ?? '')) return true;
    if (!this.readiness.isReady)
      throw new DomainError('NOT_READY', 'The registry is not open yet; try again in a moment.');
    this.readiness.expectSpace();
    return true;
  }
}
