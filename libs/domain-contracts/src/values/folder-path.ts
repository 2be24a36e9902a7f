import { DomainError } from './domain-error.js';

export const MAX_FOLDER_DEPTH = 8;
const MAX_SEGMENT_LENGTH = 64;
/** Letters of any script, digits, space, `-`, `_` and `.`, without a space at either end. */
const SEGMENT = /^(?! )[\p{L}\p{M}\p{N} ._-]+(?<! )$/u;

export const FOLDER_PATH_RULE = `1 to ${MAX_FOLDER_DEPTH} names separated by "/", each of 1 to ${MAX_SEGMENT_LENGTH} letters, digits, spaces, "-", "_" and "."`;

/**
 * Whether a text is the path of a folder, such as `prod/databases`. Only text in Unicode's composed form is, so that
 * two paths that look the same are the same.
 */
export function isFolderPath(text: string): boolean {
  const segments = text.split('/');
  return (
    segments.length <= MAX_FOLDER_DEPTH &&
    text.normalize('NFC') === text &&
    segments.every(
      (segment) => segment.length <= MAX_SEGMENT_LENGTH && SEGMENT.test(segment) && segment !== '.' && segment !== '..',
    )
  );
}

/** @throws DomainError INVALID_INPUT, naming the field */
export function expectFolderPath(text: string, field = 'path'): string {
  if (isFolderPath(text)) return text;
  throw new DomainError('INVALID_INPUT', `${field} must be ${FOLDER_PATH_RULE}.`);
}

/** The path of the folder around it; undefined at the top. */
export function parentFolder(path: string): string | undefined {
  const end = path.lastIndexOf('/');
  return end === -1 ? undefined : path.slice(0, end);
}

/** Whether `path` is `folder` itself or lies in it, at any depth. */
export const isWithinFolder = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`);
