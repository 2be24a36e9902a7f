import { parseArgs } from 'node:util';

export const USAGE = `Lists and restores backups from a repository in restic's format, without a service.

headgate-restore [--repository FOLDER] [--password-file FILE] COMMAND

  list [--json]                      the snapshots
  files SNAPSHOT [--json]            the files of a snapshot
  restore SNAPSHOT PATH FILE         writes a file of a snapshot to a new file; zeros become holes
    --skip-damaged                   goes on after damaged blocks, which stay zeros
  check [--read-data]                finds damage and the files that it affects

SNAPSHOT is an ID, the beginning of one, or "latest". The folder may be in RESTIC_REPOSITORY, the password in
RESTIC_PASSWORD or in the file that RESTIC_PASSWORD_FILE names. There is no option for the password, because other
users of the machine can see options.`;

/** The command line can't be used as it is. */
export class UsageError extends Error {}

export type Command =
  | { readonly name: 'help' }
  | { readonly name: 'list'; readonly isJson: boolean }
  | { readonly name: 'files'; readonly snapshot: string; readonly isJson: boolean }
  | {
      readonly name: 'restore';
      readonly snapshot: string;
      readonly path: string;
      readonly file: string;
      readonly skipDamaged: boolean;
    }
  | { readonly name: 'check'; readonly readData: boolean };

export interface CommandLine {
  readonly command: Command;
  readonly repository: string | undefined;
  readonly passwordFile: string | undefined;
}

const OPTIONS = {
  repository: { type: 'string', short: 'r' },
  'password-file': { type: 'string', short: 'p' },
  json: { type: 'boolean', default: false },
  'skip-damaged': { type: 'boolean', default: false },
  'read-data': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** @throws UsageError */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parse(args);
  const [name, ...rest] = positionals;
  const command = ((): Command => {
    if (values.help || name === undefined || name === 'help') return { name: 'help' };
    if (name === 'list') return { name, isJson: values.json, ...take(rest, []) };
    if (name === 'files') return { name, isJson: values.json, ...take(rest, ['snapshot']) };
    if (name === 'check') return { name, readData: values['read-data'], ...take(rest, []) };
    if (name !== 'restore') throw new UsageError(`COMMAND: ${name} is unknown; use list, files, restore or check.`);
    return { name, skipDamaged: values['skip-damaged'], ...take(rest, ['snapshot', 'path', 'file']) };
  })();
  return { command, repository: values.repository, passwordFile: values['password-file'] };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function take<K extends string>(given: readonly string[], names: readonly K[]): Record<K, string> {
  if (given.length === names.length) {
    return Object.fromEntries(names.map((name, at) => [name, given[at]])) as Record<K, string>;
  }
  const expected = names.map((name) => name.toUpperCase()).join(' ') || 'nothing';
  throw new UsageError(`The command takes ${expected}, but ${given.length} arguments were given.`);
}
