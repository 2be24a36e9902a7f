import { posix } from 'node:path';
import type { ContainerTree } from './container-shells.js';

export interface ProgramResult {
  readonly output: Buffer;
  readonly errors: string;
  readonly exitCode: number;
}

/** `waits`: it reads a pipe to which nothing is written. */
export type ProgramRun = ProgramResult | 'waits';

type Program = (args: readonly string[], tree: ContainerTree) => ProgramRun;
type Kind = 'file' | 'folder' | 'link' | 'pipe';

const MODES: Readonly<Record<Kind, number>> = { file: 0o100644, folder: 0o040755, link: 0o120777, pipe: 0o010644 };
const TYPES: Readonly<Record<string, Kind>> = { f: 'file', d: 'folder', l: 'link', p: 'pipe' };
const MAX_LINKS = 40;
const FOLDER_BYTES = 4096;
const NO_ENTRY = 'No such file or directory';

/** Runs `find`, `stat`, `readlink` or `cat` as GNU has them, with a few of their options; undefined for others. */
export function runFileProgram([name = '', ...args]: readonly string[], tree: ContainerTree): ProgramRun | undefined {
  return PROGRAMS.get(posix.basename(name))?.(args, tree);
}

const cat: Program = (args, tree) => {
  const parts: string[] = [];
  const errors: string[] = [];
  for (const path of args.filter((arg) => arg !== '--')) {
    const place = resolve(tree, path);
    const kind = place === undefined ? undefined : kindOf(tree, place);
    if (kind === 'pipe') return 'waits';
    if (kind === 'file') parts.push(tree.files.get(place ?? '') ?? '');
    else errors.push(`cat: ${path}: ${kind === 'folder' ? 'Is a directory' : NO_ENTRY}\n`);
  }
  return ended(parts, errors);
};

const stat: Program = (args, tree) => {
  const format = args[args.indexOf('-c') + 1] ?? '';
  const follows = args.includes('-L');
  const lines: string[] = [];
  const errors: string[] = [];
  for (const path of args.filter((arg) => arg !== '-L' && arg !== '-c' && arg !== format)) {
    const place = resolve(tree, path, follows);
    const kind = place === undefined ? undefined : kindOf(tree, place);
    if (place === undefined || kind === undefined) errors.push(`stat: cannot statx '${path}': ${NO_ENTRY}\n`);
    else lines.push(`${formatted(format, { path, place, kind }, tree)}\n`);
  }
  return ended(lines, errors);
};

const readlink: Program = ([path = ''], tree) => {
  const special = tree.special.get(resolve(tree, path, false) ?? '');
  return special?.type === 'link' ? ended([`${special.target}\n`], []) : { ...ended([], []), exitCode: 1 };
};

/** The depths, `-type` and `-exec`, which are all true at the same time. */
const find: Program = ([start = '.', ...args], tree) => {
  const { minDepth, maxDepth, tests } = findOptionsOf(args);
  const parts: Buffer[] = [];
  const errors: string[] = [];
  const collected = new Map<FindTest, string[]>();
  const run = (command: readonly string[]): boolean => {
    const result = runFileProgram(command, tree);
    if (result === undefined || result === 'waits') return false;
    parts.push(result.output);
    errors.push(result.errors);
    return result.exitCode === 0;
  };
  const visit = (path: string, depth: number): void => {
    const place = resolve(tree, path, path.endsWith('/'));
    const kind = place === undefined ? undefined : kindOf(tree, place);
    if (place === undefined || kind === undefined) return void errors.push(`find: '${path}': ${NO_ENTRY}\n`);
    if (depth >= minDepth)
      tests.every((test) => {
        if (test.type !== undefined) return test.type === kind;
        if (!test.collects) return run(test.command.map((word) => word.replace('{}', () => path)));
        collected.set(test, [...(collected.get(test) ?? []), path]);
        return true;
      });
    if (kind !== 'folder' || depth >= maxDepth) return;
    for (const name of namesIn(tree, place)) visit(`${path.replace(/\/$/, '')}/${name}`, depth + 1);
  };
  visit(start, 0);
  for (const [{ command }, paths] of collected) run(command.flatMap((word) => (word === '{}' ? paths : [word])));
  const text = errors.join('');
  return { output: Buffer.concat(parts), errors: text, exitCode: text === '' ? 0 : 1 };
};

const PROGRAMS: ReadonlyMap<string, Program> = new Map([
  ['cat', cat],
  ['stat', stat],
  ['readlink', readlink],
  ['find', find],
]);

interface FindTest {
  readonly type?: Kind;
  readonly command: readonly string[];
  /** `+`: once, with all paths. */
  readonly collects: boolean;
}

function findOptionsOf(args: readonly string[]) {
  const tests: FindTest[] = [];
  let minDepth = 0;
  let maxDepth = Number.POSITIVE_INFINITY;
  for (let at = 0; at < args.length; at++) {
    const value = args[at + 1] ?? '';
    if (args[at] === '-mindepth') minDepth = Number(value);
    else if (args[at] === '-maxdepth') maxDepth = Number(value);
    else if (args[at] === '-type') tests.push({ type: TYPES[value], command: [], collects: false });
    else if (args[at] === '-exec') {
      const end = args.findIndex(
        (arg, index) => index > at && (arg === ';' || (arg === '+' && args[index - 1] === '{}')),
      );
      tests.push({ command: args.slice(at + 1, end), collects: args[end] === '+' });
      at = end;
      continue;
    }
    at++;
  }
  return { minDepth, maxDepth, tests };
}

interface Entry {
  /** As it was given. */
  readonly path: string;
  readonly place: string;
  readonly kind: Kind;
}

function formatted(format: string, { path, place, kind }: Entry, { files, special, changedAt }: ContainerTree): string {
  const link = special.get(place);
  const sizes: Readonly<Record<Kind, number>> = {
    file: bytesOf(files.get(place) ?? '').length,
    folder: FOLDER_BYTES,
    link: link?.type === 'link' ? bytesOf(link.target).length : 0,
    pipe: 0,
  };
  const values: Readonly<Record<string, string>> = {
    f: MODES[kind].toString(16),
    s: String(sizes[kind]),
    Y: String(Math.floor(changedAt / 1000)),
    n: path,
    '%': '%',
  };
  return format.replace(/%([fsYn%])/g, (_whole, letter: string) => values[letter] ?? '');
}

/** The place of a path without links; undefined if it has none. @param followsLast whether a link at its end counts */
function resolve(tree: ContainerTree, path: string, followsLast = true): string | undefined {
  let rest = path.split('/').filter((name) => name !== '' && name !== '.');
  let place = '/';
  for (let links = 0; rest.length > 0;) {
    const [name = '', ...after] = rest;
    if (kindOf(tree, place) !== 'folder') return undefined;
    const next = posix.join(place, name);
    const special = tree.special.get(next);
    if (special?.type === 'link' && (after.length > 0 || followsLast)) {
      if (++links > MAX_LINKS) return undefined;
      if (special.target.startsWith('/')) place = '/';
      rest = [...special.target.split('/').filter(Boolean), ...after];
      continue;
    }
    place = next;
    rest = after;
  }
  const isFolder = !path.endsWith('/') || kindOf(tree, place) === 'folder';
  return isFolder && kindOf(tree, place) !== undefined ? place : undefined;
}

function kindOf({ files, special }: ContainerTree, place: string): Kind | undefined {
  const entry = special.get(place);
  if (entry) return entry.type;
  if (files.has(place)) return 'file';
  const prefix = place === '/' ? place : `${place}/`;
  return [...files.keys()].some((path) => path.startsWith(prefix)) ? 'folder' : undefined;
}

/** In no order, as in a real folder. */
function namesIn({ files }: ContainerTree, place: string): readonly string[] {
  const prefix = place === '/' ? place : `${place}/`;
  const below = [...files.keys()].filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
  return [...new Set(below.map((path) => path.split('/')[0] ?? ''))];
}

const ended = (lines: readonly string[], errors: readonly string[]): ProgramResult => ({
  output: Buffer.concat(lines.map(bytesOf)),
  errors: errors.join(''),
  exitCode: errors.length > 0 ? 1 : 0,
});

/** Surrogates from U+DC80 to U+DCFF are single bytes. */
const bytesOf = (text: string): Buffer =>
  Buffer.concat(
    text
      .split(/([\udc80-\udcff])/)
      .map((part, index) => (index % 2 === 1 ? Buffer.from([part.charCodeAt(0) & 0xff]) : Buffer.from(part))),
  );
