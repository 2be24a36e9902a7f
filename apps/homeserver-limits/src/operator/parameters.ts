import { MatrixError } from '@headgate/matrix-protocol';

/** A parameter that must be given once. @throws MatrixError M_MISSING_PARAM */
export function required(value: unknown, name: string): string {
  if (typeof value !== 'string' || value === '') throw MatrixError.missingParam(name);
  return value;
}

/** A count in a parameter. @throws MatrixError M_INVALID_PARAM */
export function countParameter(name: string, value: unknown, fallback: number): number {
  const count = value === undefined ? fallback : Number(value);
  if (!Number.isInteger(count) || count < 1) throw MatrixError.invalidParam(`${name} must be a whole number from 1.`);
  return count;
}
