import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { DomainError } from '@headgate/domain-contracts';
import type { FastifyRequest } from 'fastify';
import { READS } from '../identity/edge.guard.js';
import { Readiness } from '../platform/readiness.js';

/** Refuses changes until the registry is open, and while its disk is full: each change is recorded there with its author. */
@Injectable()
export class ReadinessGuard implements CanActivate {
  constructor(private readonly readiness: Readiness) {}

  canActivate(context: ExecutionContext): boolean {
    const { method } = context.switchToHttp().getRequest<FastifyRequest>();
    if (READS.includes(method)) return true;
    if (!this.readiness.isReady)
      throw new DomainError('NOT_READY', 'The registry is not open yet; try again in a moment.');
    this.readiness.expectSpace();
    return true;
  }
}
