import { ApiError } from './api-error.js';

/** Error messages by field. */
export type FieldErrors<F extends string> = Readonly<Partial<Record<F, string>>>;

/** The field that an error code is about when the message does not name it. */
const FIELD_OF_CODE: Readonly<Record<string, string>> = {
  ALREADY_EXISTS: 'name',
  INVALID_NAME: 'name',
  CONTEXT_NOT_FOUND: 'context',
  NODE_NOT_FOUND: 'node',
  VOLUME_NOT_FOUND: 'pvc',
  UNKNOWN_CATALOG_ENTRY: 'image',
  FOLDER_NOT_FOUND: 'folder',
};

/**
 * Assigns an error to the fields it is about: `details.fields` has a message for each field; otherwise the field is the
 * first word of the message ("name must be …") or follows from the code. Empty when the error is about none of the
 * fields.
 */
export function fieldErrors<F extends string>(error: unknown, fields: readonly F[]): FieldErrors<F> {
  const none = {} as FieldErrors<F>;
  if (!(error instanceof ApiError)) return none;
  const known = (name: string | undefined): name is F => (fields as readonly (string | undefined)[]).includes(name);
  const listed = listedFields(error.details).filter(({ field }) => known(field));
  if (listed.length > 0)
    return Object.fromEntries(listed.map(({ field, message }) => [field, message])) as FieldErrors<F>;
  const named = namedField(error.message, error.code, fields);
  return named ? ({ [named]: error.message } as FieldErrors<F>) : none;
}

/** The refusals of a plan that are about a field, by the field. */
export function fieldsOfRefusals<F extends string>(
  refusals: readonly { readonly code: string; readonly reason: string }[],
  fields: readonly F[],
): FieldErrors<F> {
  const found = refusals.flatMap(({ code, reason }) => {
    const field = namedField(reason, code, fields);
    return field === undefined ? [] : [[field, reason]];
  });
  return Object.fromEntries(found.reverse()) as FieldErrors<F>;
}

/** The first word of a message, or else the usual field of its code. */
function namedField<F extends string>(message: string, code: string, fields: readonly F[]): F | undefined {
  const known = (name: string | undefined): name is F => (fields as readonly (string | undefined)[]).includes(name);
  return [/^([A-Za-z]+)\b/.exec(message)?.[1], FIELD_OF_CODE[code]].find(known);
}

function listedFields(details: unknown): readonly { field: string; message: string }[] {
  if (typeof details !== 'object' || details === null || !('fields' in details)) return [];
  return Array.isArray(details.fields) ? (details.fields as { field: string; message: string }[]) : [];
}
