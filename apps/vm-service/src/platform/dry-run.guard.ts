import 'reflect-metadata';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ChangeQuery } from '@headgate/api-contracts';
import { DomainError } from '@headgate/domain-contracts';
import type { FastifyRequest } from 'fastify';

/** Why a request that changes something can't be rehearsed. */
export const NO_DRY_RUN = 'This request has no dry run: omit dryRun to carry it out.';

/** Refuses a dry run where there is none: otherwise the request would be carried out. */
@Injectable()
export class DryRunGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { method } = request;
    const query = request.query as Readonly<Record<string, unknown>>;
    const isChange = method !== 'GET' && method !== 'HEAD';
    const isCreating = 'checkpoint' in query;
    if (!('dryRun' in query) || (!isChange && !isCreating) || hasDryRun(context)) return true;
    throw new DomainError('INVALID_INPUT', NO_DRY_RUN);
  }
}

/** Whether the handler reads the query that has `dryRun`. */
function hasDryRun(context: ExecutionContext): boolean {
  const types: unknown = Reflect.getMetadata(
    'design:paramtypes',
    context.getClass().prototype as object,
    context.getHandler().name,
  );
  return Array.isArray(types) && types.some((type) => typeof type === 'function' && isChangeQuery(type));
}

const isChangeQuery = (type: { readonly prototype?: unknown }): boolean =>
  (type as unknown) === ChangeQuery || type.prototype instanceof ChangeQuery;
