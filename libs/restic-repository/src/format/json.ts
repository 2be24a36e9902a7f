import { DamagedError } from '../model/errors.js';

/** Fields of a JSON object whose types are not known yet. */
export type Fields = Readonly<Record<string, unknown>>;

const ID = /^[0-9a-f]{64}$/;

export const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value);

/** @throws DamagedError with the subject, as all functions of this file */
export function parseJson(bytes: Uint8Array, subject: string): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
  } catch {
    throw new DamagedError(`${subject} is no JSON.`, subject);
  }
}

export function fieldsOf(value: unknown, subject: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new DamagedError(`${subject} has no JSON object where one belongs.`, subject);
}

/** An integer of 0 or more. */
export function numberOf(fields: Fields, name: string, subject: string): number {
  const value = fields[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new DamagedError(`${subject} has no number in ${name}.`, subject);
}

/** A string; empty if the field is missing. */
export function stringOf(fields: Fields, name: string, subject: string): string {
  const value = fields[name] ?? '';
  if (typeof value === 'string') return value;
  throw new DamagedError(`${subject} has no string in ${name}.`, subject);
}

export function idOf(fields: Fields, name: string, subject: string): string {
  const value = fields[name];
  if (isId(value)) return value;
  throw new DamagedError(`${subject} has no ID in ${name}.`, subject);
}

/** An array; empty if the field is missing or null. */
export function arrayOf(fields: Fields, name: string, subject: string): readonly unknown[] {
  const value = fields[name] ?? [];
  if (Array.isArray(value)) return value;
  throw new DamagedError(`${subject} has no array in ${name}.`, subject);
}

export function stringsOf(fields: Fields, name: string, subject: string): readonly string[] {
  const values = arrayOf(fields, name, subject);
  if (values.every((value) => typeof value === 'string')) return values;
  throw new DamagedError(`${subject} has something other than strings in ${name}.`, subject);
}

/** Bytes in Base64. */
export const bytesOf = (fields: Fields, name: string, subject: string): Buffer =>
  Buffer.from(stringOf(fields, name, subject), 'base64');
