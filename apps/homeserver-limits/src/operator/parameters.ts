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

/** A text in a JSON body. @throws MatrixError M_BAD_JSON, M_MISSING_PARAM */
export function textIn(body: unknown, name: string): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw MatrixError.badJson('The body must be an object.');
  return required(Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined, name);
}

const MAX_REASON_CHARACTERS = 200;

/** The reason of an action, which the journal keeps. @throws MatrixError M_INVALID_PARAM */
export function reasonIn(text: string): string {
  if (text.trim() === '' || text.length > MAX_REASON_CHARACTERS)
    throw MatrixError.invalidParam(`reason must be a text of 1 to ${MAX_REASON_CHARACTERS} characters.`);
  return text;
}

/** A reason that may be left out. @throws MatrixError M_INVALID_PARAM */
export function optionalReason(value: unknown): string | undefined {
  return value === undefined ? undefined : reasonIn(required(value, 'reason'));
}
