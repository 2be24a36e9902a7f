import type { FileEntryView, FilePageView, FileSessionView } from '@headgate/api-contracts';
import { ClientError } from '../client/client-error.js';
import { openFiles, type OpenFiles, type SourceFlags } from '../files/open-files.js';
import { expectNoTerminal, saveFile } from '../files/save-file.js';
import type { Session } from '../session.js';
import type { Presentation } from '../terminal/output.js';
import { readableBytes } from '../terminal/readable-bytes.js';
import { printable } from '../terminal/printable.js';
import type { AddCommands } from './command-context.js';

interface GetFlags extends SourceFlags {
  readonly to?: string;
  readonly archive?: boolean;
}

type Volume = FileSessionView['volumes'][number];

/** As many as a page of the service has at most. */
const PAGE = 1000;
/** The guest that reads the disks may need a while for a large folder. */
const LONGEST_SILENCE_MS = 600_000;
const SOURCE =
  'a VM that is stopped, or that has a snapshot (--snapshot); or backup:ID with the beginning of the ID of a backup';

const VOLUMES: Presentation<Volume> = {
  nameOf: ({ number }) => String(number),
  ifEmpty: 'The disks have no file system.',
  columns: [
    { title: 'VOLUME', of: ({ number }) => number },
    { title: 'DISK', of: ({ disk }) => disk },
    { title: 'NAME', of: ({ name }) => name },
    { title: 'CONTENT', of: ({ fileSystem }) => fileSystem },
    { title: 'LABEL', of: ({ label }) => label },
    { title: 'SIZE', of: ({ sizeBytes }) => readableBytes(sizeBytes) },
    { title: 'PROBLEM', of: ({ problem }) => problem },
  ],
};

const ENTRIES: Presentation<FileEntryView> = {
  nameOf: ({ name }) => name,
  ifEmpty: 'The folder is empty.',
  columns: [
    { title: 'MODE', of: ({ mode }) => mode.toString(8).padStart(4, '0') },
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'SIZE', of: ({ kind, sizeBytes }) => (kind === 'file' ? readableBytes(sizeBytes) : undefined) },
    { title: 'CHANGED', of: ({ modifiedAt }) => modifiedAt },
    { title: 'NAME', of: ({ name, target }) => (target === undefined ? name : `${name} -> ${target}`) },
  ],
};

/** files list and get. */
export const addFileCommands: AddCommands = (program, act) => {
  const group = program.command('files').summary('list and download files of backups, snapshots and stopped VMs');
  group
    .helpCommand(false)
    .description(
      'Files on the disks of VMs, without an agent. A guest of the service reads the disks, and changes nothing.',
    );
  group
    .command('list')
    .alias('ls')
    .description('Lists the volumes on the disks, or a folder of a volume.')
    .argument('<source>', SOURCE)
    .argument('[volume]', 'the number of a volume')
    .argument('[path]', 'a folder of the volume; by default, its root')
    .option('--snapshot <name>', 'the disks of this snapshot')
    .option('--target <name>', 'the target that has the backup')
    .option('--on <context>', 'the context that reads the backup; by default, that of the original')
    .action(act(list));
  group
    .command('get')
    .description('Downloads a file, or with --archive a folder as tar. An existing file is not replaced.')
    .argument('<source>', SOURCE)
    .argument('<volume>', 'the number of the volume')
    .argument('<path>', 'as in the list: %25 is a percent sign')
    .option('--to <file>', 'the new file, or - for standard output; by default, its name in this folder')
    .option('--archive', 'a folder with everything in it, as tar')
    .option('--snapshot <name>', 'the disks of this snapshot')
    .option('--target <name>', 'the target that has the backup')
    .option('--on <context>', 'the context that reads the backup; by default, that of the original')
    .action(act(get));
};

async function list(
  session: Session,
  source: string,
  volume: string | undefined,
  path: string | undefined,
  flags: SourceFlags,
): Promise<void> {
  const number = volume === undefined ? undefined : parseVolume(volume);
  const files = await openFiles(await session.api(), source, flags);
  if (number === undefined) return session.output.list(files.session.volumes, VOLUMES);
  const { entries, isCut } = await readFolder(session, files, { volume: number, path: path ?? '/' });
  if (isCut) session.output.note('The folder has more entries than the service lists.');
  await session.output.list(entries, ENTRIES);
}

async function readFolder(
  session: Session,
  { path, query }: OpenFiles,
  of: { readonly volume: string; readonly path: string },
): Promise<Pick<FilePageView, 'entries' | 'isCut'>> {
  const { http } = await session.api();
  const entries: FileEntryView[] = [];
  for (;;) {
    const { body } = await http.json<FilePageView>('GET', `${path}/entries`, {
      query: { ...query, ...of, skip: entries.length, limit: PAGE },
      timeoutMs: LONGEST_SILENCE_MS,
    });
    entries.push(...body.entries);
    if (body.entries.length === 0 || entries.length >= body.total) return { entries, isCut: body.isCut };
  }
}

async function get(session: Session, source: string, volume: string, path: string, flags: GetFlags): Promise<void> {
  const file = flags.to ?? nameOf(path, flags);
  expectNoTerminal(session, file);
  const number = parseVolume(volume);
  const api = await session.api();
  const files = await openFiles(api, source, flags);
  const answer = await api.http.open('GET', `${files.path}/${flags.archive ? 'archive' : 'content'}`, {
    headers: { accept: '*/*' },
    query: { ...files.query, volume: number, path },
    signal: session.environment.interrupted,
    timeoutMs: LONGEST_SILENCE_MS,
  });
  const bytes = await saveFile(session, answer, file);
  if (file === '-') return;
  await session.output.value({ file, bytes }, () => `${printable(file)}: ${readableBytes(bytes)}\n`, file);
}

function parseVolume(text: string): string {
  if (!/^\d{1,3}$/.test(text))
    throw ClientError.usage(`"${text}" is not the number of a volume: see headgate files list.`);
  return text;
}

/** The last part of the path, as the list shows it: it has no slash and no control character. */
function nameOf(path: string, { archive }: GetFlags): string {
  const name = path.split('/').findLast((part) => part !== '') ?? 'files';
  if (name === '.' || name === '..') throw ClientError.usage(`"${path}" has no name to save it under: use --to.`);
  return archive ? `${name}.tar` : name;
}
