import { t } from '@lingui/core/macro';
/** The service's rules for folders. A test compares them with its own. */
const MAX_LENGTH = 64;
const MAX_DEPTH = 8;
/** Letters of any script, with their marks. */
const WRONG = /[^\p{L}\p{M}\p{N} ._-]/gu;

/**
 * The name that a user means: without spaces at its ends, and in Unicode's composed form, so that two names that look
 * the same are the same.
 */
export const folderName = (typed: string): string => typed.trim().normalize('NFC');

/** The problem with the name of a folder, as a sentence; undefined when the service accepts it. */
export function folderNameProblem(name: string): string | undefined {
  if (name === '') return t`Enter a name.`;
  if (name.length > MAX_LENGTH) return t`Use at most ${MAX_LENGTH} characters (now ${name.length}).`;
  if (name === '.' || name === '..') return t`Choose a name other than "." or "..".`;
  const wrong = [...new Set(name.match(WRONG))];
  if (wrong.length > 0)
    return t`Use only letters, digits, spaces, "-", "_", and ".". Not allowed: ${wrong.map(visible).join(' ')}`;
  return undefined;
}

/** A tab or a line break would not be seen. */
const visible = (character: string): string => (/\s/u.test(character) ? t`other white space` : character);

/** The path of a folder in another one, or at the top. */
export const folderPath = (parent: string, name: string): string => (parent === '' ? name : `${parent}/${name}`);

/** The path of the folder around it; empty at the top. */
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** The last name of a path. */
export const nameOfFolder = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Whether a path is that of the folder itself, or of one in it. */
export const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/**
 * Why a folder can't be at a path, as a sentence; undefined when the service may be asked.
 * @param known the paths of all folders
 * @param from its path now; absent for a new one
 */
export function placeProblem(to: string, known: readonly string[], from?: string): string | undefined {
  if (from !== undefined && to !== from && isWithin(to, from)) return t`A folder can't be moved into itself.`;
  if (to !== from && known.includes(to)) return t`The folder ${to} already exists.`;
  const below = from === undefined ? [] : known.filter((path) => isWithin(path, from));
  const depth = Math.max(0, ...below.map((path) => levels(path) - levels(from ?? ''))) + levels(to);
  return depth > MAX_DEPTH ? t`Folders have up to ${MAX_DEPTH} levels. This one would have ${depth}.` : undefined;
}

const levels = (path: string): number => path.split('/').length;
