import { fieldNotSupported, invalidOptions } from '../api-error.js';

/** @throws ApiError 422 */
export function parseDryRun(values: string[], kind: string): boolean {
  const given = values.filter(Boolean);
  if (given.some((value) => value !== 'All')) {
    throw invalidOptions(kind, [fieldNotSupported('dryRun', given, ['All'])]);
  }
  return given.length > 0;
}
