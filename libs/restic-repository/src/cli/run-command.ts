import { readFile } from 'node:fs/promises';
import { restoreFile } from '../reading/restore-file.js';
import type { Snapshot } from '../model/types.js';
import { ResticRepository } from '../repository.js';
import { DirectoryTarget } from '../target/directory-target.js';
import { type Command, type CommandLine, USAGE, UsageError } from './command-line.js';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Say = (line: string) => void;

const SHORTEST_ID = 4;
/** Part of the restore or of the repository is damaged. */
const DAMAGED = 3;

/** Runs a command and returns the exit code. Reading needs no lock, so the repository may be read-only. */
export async function runCommand(
  { command, repository: folder, passwordFile }: CommandLine,
  environment: Environment,
  say: Say,
): Promise<number> {
  if (command.name === 'help') {
    say(USAGE);
    return 0;
  }
  const at = folder ?? environment['RESTIC_REPOSITORY'];
  if (!at) throw new UsageError('--repository: the folder of the repository is missing.');
  const password = await readPassword(passwordFile, environment);
  return carryOut(await ResticRepository.open(new DirectoryTarget(at), password), command, say);
}

async function readPassword(option: string | undefined, environment: Environment): Promise<string> {
  const file = option ?? environment['RESTIC_PASSWORD_FILE'];
  if (file) return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  const password = environment['RESTIC_PASSWORD'];
  if (password) return password;
  throw new UsageError('The password is missing; set RESTIC_PASSWORD, RESTIC_PASSWORD_FILE or --password-file.');
}

async function carryOut(
  repository: ResticRepository,
  command: Exclude<Command, { name: 'help' }>,
  say: Say,
): Promise<number> {
  switch (command.name) {
    case 'list':
      return list(await repository.snapshots(), command.isJson, say);
    case 'files': {
      const files = await repository.files(await findSnapshot(repository, command.snapshot));
      if (command.isJson) say(JSON.stringify(files));
      else for (const { path, size } of files) say(`${String(size).padStart(15)}  ${printable(path)}`);
      return 0;
    }
    case 'restore':
      return restore(repository, command, say);
    case 'check':
      return check(repository, command.readData, say);
  }
}

function list(snapshots: readonly Snapshot[], isJson: boolean, say: Say): number {
  if (isJson) say(JSON.stringify(snapshots));
  else {
    for (const { id, time, hostname, paths, tags } of snapshots) {
      say([id.slice(0, 8), time, hostname, paths.join(','), tags.join(',')].map(printable).join('  '));
    }
  }
  return 0;
}

async function restore(
  repository: ResticRepository,
  { snapshot, path, file, skipDamaged }: Extract<Command, { name: 'restore' }>,
  say: Say,
): Promise<number> {
  const source = await repository.openFile(await findSnapshot(repository, snapshot), path);
  const { bytes, damaged } = await restoreFile(source, file, { skipDamaged });
  for (const { offset, length } of damaged) say(`Damaged: ${length} bytes at ${offset}, which are zeros now.`);
  say(`Restored ${bytes} bytes.`);
  return damaged.length === 0 ? 0 : DAMAGED;
}

async function check(repository: ResticRepository, readData: boolean, say: Say): Promise<number> {
  const { problems, affected, snapshots, packs } = await repository.check({ readData });
  for (const { message } of problems) say(printable(message));
  for (const { snapshotId, path } of affected)
    say(`Affected: ${printable(path)} of snapshot ${snapshotId.slice(0, 8)}`);
  say(`${snapshots} snapshots and ${packs} packs: ${problems.length === 0 ? 'no' : problems.length} problems.`);
  return problems.length === 0 ? 0 : DAMAGED;
}

async function findSnapshot(repository: ResticRepository, wanted: string): Promise<string> {
  const snapshots = await repository.snapshots();
  if (wanted === 'latest') {
    const latest = snapshots.at(-1);
    if (!latest) throw new UsageError('SNAPSHOT: the repository has no snapshots.');
    return latest.id;
  }
  const found = wanted.length < SHORTEST_ID ? [] : snapshots.filter(({ id }) => id.startsWith(wanted));
  const [only] = found;
  if (only && found.length === 1) return only.id;
  const reason = found.length === 0 ? 'is no ID of a snapshot' : `is the beginning of ${found.length} IDs`;
  throw new UsageError(`SNAPSHOT: ${wanted} ${reason}; list shows them.`);
}

/** Names come from the repository and must not control the terminal. */
const printable = (text: string): string =>
  text.replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
