import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Difference } from './differences.js';
import type { Json } from './scenario.js';

/** Why two clusters may differ in these fields. It covers no other field, and no other value. */
export interface Reason {
  /** A sentence for people. */
  because: string;
  covers: { request: string; field: string; values: Json[] }[];
}

/** Reads `recorded/reasons.json` of each folder that has one. @throws Error that names the file */
export function loadReasons(folders: readonly string[]): Reason[] {
  return folders
    .map((folder) => join(folder, 'recorded/reasons.json'))
    .filter((path) => existsSync(path))
    .flatMap(readReasons);
}

function readReasons(path: string): Reason[] {
  let file: { reasons?: Partial<Reason>[] };
  try {
    file = JSON.parse(readFileSync(path, 'utf8')) as typeof file;
  } catch (error) {
    throw new Error(`${path} is no JSON: ${(error as Error).message}`, { cause: error });
  }
  if (!Array.isArray(file.reasons)) throw new Error(`${path} has no list "reasons"`);
  return file.reasons.map(({ because, covers }) => {
    const isComplete =
      because?.endsWith('.') &&
      Array.isArray(covers) &&
      covers.length > 0 &&
      covers.every(({ request, field, values }) => request && field && Array.isArray(values));
    if (!isComplete) {
      throw new Error(
        `${path}: a reason needs a sentence "because", and "covers" with "request", "field" and "values"`,
      );
    }
    return { because: because!, covers };
  });
}

export const covers = ({ covers: rules }: Reason, { request, field, expected, actual }: Difference): boolean =>
  rules.some(
    (rule) =>
      rule.request === request &&
      rule.field === field &&
      [expected, actual].every((value) => rule.values.some((allowed) => isSame(allowed, value))),
  );

const isSame = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);
