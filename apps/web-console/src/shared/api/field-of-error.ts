import { ApiError } from './api-error.js';

/** The field that a refusal names. Messages begin with it («name must be …»); `details` may say it too. */
export function fieldOfError<F extends string>(error: unknown, fields: readonly F[]): F | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const named = detailField(error.details) ?? /^([A-Za-z]+)\b/.exec(error.message)?.[1];
  return fields.find((field) => field === named);
}

function detailField(details: unknown): string | undefined {
  if (typeof details !== 'object' || details === null || !('field' in details)) return undefined;
  return typeof details.field === 'string' ? details.field : undefined;
}
