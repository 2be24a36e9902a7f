/** A document does not have the form of its schema. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * @param where names the object in errors
 * @throws ShapeError unless the value is an object with no other fields than these
 */
export function readObject(value: unknown, where: string, known: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ShapeError(`${where} must be an object.`);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new ShapeError(`${where} has the unknown field "${unknown.slice(0, 80)}".`);
  return value as Fields;
}

export interface TextRule {
  readonly test: (text: string) => boolean;
  /** Completes "must be …". */
  readonly rule: string;
}

/** @throws ShapeError */
export function readText(fields: Fields, key: string, where: string, { test, rule }: TextRule): string {
  const value = fields[key];
  if (typeof value !== 'string' || !test(value)) throw new ShapeError(`${where}.${key} must be ${rule}.`);
  return value;
}

/** @throws ShapeError unless the field is a whole number of at least 1 */
export function readCount(fields: Fields, key: string, where: string): number {
  const value = fields[key];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1)
    throw new ShapeError(`${where}.${key} must be a whole number of at least 1.`);
  return value;
}

/** @throws ShapeError unless the field is an array of at most `max` elements */
export function readArray(fields: Fields, key: string, where: string, max: number): readonly unknown[] {
  const value = fields[key];
  if (!Array.isArray(value)) throw new ShapeError(`${where}.${key} must be an array.`);
  if (value.length > max) throw new ShapeError(`${where}.${key} has more than ${max} elements.`);
  return value as unknown[];
}

/** @throws ShapeError unless the field is one of the words */
export function readWord<Word extends string>(
  fields: Fields,
  key: string,
  where: string,
  words: readonly Word[],
): Word {
  return expectWord(fields[key], `${where}.${key}`, words);
}

/** @throws ShapeError */
export function expectWord<Word extends string>(value: unknown, where: string, words: readonly Word[]): Word {
  const word = words.find((one) => one === value);
  if (word === undefined) throw new ShapeError(`${where} must be one of ${words.join(', ')}.`);
  return word;
}

export interface Schema {
  /** The version that this release reads. */
  readonly version: number;
  /** The fields besides `schemaVersion`. */
  readonly keys: readonly string[];
}

/**
 * Reads a document in JSON with a version of its schema. The version is checked first: a newer one may have other
 * fields.
 * @throws ShapeError
 */
export function readDocument(text: string, where: string, { version, keys }: Schema): Fields {
  const value = parseJson(text, where);
  const found = (value as Fields | null)?.['schemaVersion'];
  if (typeof value === 'object' && !Array.isArray(value) && value !== null && found !== version) {
    const shown = String(JSON.stringify(found)).slice(0, 40);
    throw new ShapeError(`${where}.schemaVersion is ${shown}; this release reads version ${version}.`);
  }
  return readObject(value, where, ['schemaVersion', ...keys]);
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ShapeError(`${where} is not JSON.`);
  }
}
