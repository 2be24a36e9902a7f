import { InvalidInputError } from './errors.js';

/** Whether a name is one part of a path and stays below its folder wherever it is restored. */
export const isSafeName = (name: string): boolean =>
  name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0');

const MOST_PARTS = 255;

/** The parts of a path in a snapshot, with or without `/` at its beginning. @throws InvalidInputError */
export function partsOf(path: string): readonly string[] {
  const parts = (path.startsWith('/') ? path.slice(1) : path).split('/');
  if (parts.every(isSafeName) && parts.length <= MOST_PARTS && path.isWellFormed()) return parts;
  throw new InvalidInputError(
    `path: ${JSON.stringify(path)} is not a path of a file; use names between "/" without ".", ".." and NUL.`,
  );
}
