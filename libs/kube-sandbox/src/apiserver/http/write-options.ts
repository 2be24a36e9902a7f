import { fieldForbidden, fieldNotSupported, invalidOptions } from '../api-error.js';
import { parseDryRun } from '../requests/dry-run.js';
import type { DeleteOptions } from '../store/deletion-plan.js';
import type { RequestContext } from './request-context.js';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteRequestOptions {
  dryRun: boolean;
  fieldManager: string;
  fieldValidation: FieldValidation;
  force: boolean;
}

const DEFAULT_MANAGER = 'unknown';

const OPTIONS_OF: Record<string, string> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
};

const isApply = (contentType = ''): boolean => contentType.startsWith('application/apply-patch');

/** @throws ApiError 422 */
export function parseWriteOptions({ info, request }: RequestContext): WriteRequestOptions {
  const { query } = info;
  const kind = OPTIONS_OF[info.verb] ?? 'UpdateOptions';
  const fieldValidation = query.get('fieldValidation') || 'Warn';
  if (!['Ignore', 'Warn', 'Strict'].includes(fieldValidation)) {
    throw invalidOptions(kind, [
      fieldNotSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']),
    ]);
  }
  if (query.has('force') && info.verb === 'patch' && !isApply(request.headers['content-type']))
    throw invalidOptions(kind, [fieldForbidden('force', 'may not be specified for non-apply patch')]);
  return {
    dryRun: parseDryRun(query.getAll('dryRun'), kind),
    fieldManager: query.get('fieldManager') || (request.headers['user-agent'] ?? '').split('/')[0] || DEFAULT_MANAGER,
    fieldValidation: fieldValidation as FieldValidation,
    force: query.get('force') === 'true',
  };
}

/** The options of a DELETE; those in the body override the query. @throws ApiError 422 */
export function parseDeleteOptions(
  { info: { query } }: RequestContext,
  body: unknown,
): DeleteOptions & { dryRun: boolean; legacyOrphan: boolean } {
  const fields = (body ?? {}) as DeleteOptions & { dryRun?: string[]; orphanDependents?: boolean };
  const grace =
    fields.gracePeriodSeconds ??
    (query.has('gracePeriodSeconds') ? Number(query.get('gracePeriodSeconds')) : undefined);
  const policy = fields.propagationPolicy ?? (query.get('propagationPolicy') || undefined);
  if (policy !== undefined && !['Background', 'Foreground', 'Orphan'].includes(policy)) {
    throw invalidOptions('DeleteOptions', [
      fieldNotSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil']),
    ]);
  }
  const legacy = fields.orphanDependents;
  return {
    propagationPolicy: (policy ?? (legacy === true ? 'Orphan' : undefined)) as DeleteOptions['propagationPolicy'],
    gracePeriodSeconds: grace,
    preconditions: fields.preconditions,
    dryRun: parseDryRun([...(fields.dryRun ?? []), ...query.getAll('dryRun')], 'DeleteOptions'),
    legacyOrphan: legacy === false,
  };
}
