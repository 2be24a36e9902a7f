import type { FileEntryView, FilePageView, FileSessionView } from '@headgate/api-contracts';
import { ClientError } from '../client/client-error.js';
import { findSource, type OpenFiles, type SourceFlags } from '../files/open-files.js';
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

/** A file or a folder. */
interface Place {
  readonly volume?: string;
  readonly path: string;
}

/** As many as a page of the service has at most. */
const PAGE = 1000;
/** The guest that reads the disks may need a while for a large folder. */
const LONGEST_SILENCE_MS = 600_000;
const SOURCE =
  'a container that runs; a VM that is stopped, or that has a snapshot (--snapshot); or backup:ID with the beginning of the ID of a backup';

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
  const group = program
    .command('files')
    .summary('list and download files of containers, backups, snapshots and stopped VMs');
  group
    .helpCommand(false)
    .description(
      'Files of containers, and on the disks of VMs without an agent: a guest of the service reads the disks, and changes nothing. Containers have no volumes.',
    );
  group
    .command('list')
    .alias('ls')
    .description('Lists the volumes on the disks, or a folder of a volume or of a container.')
    .argument('<source>', SOURCE)
    .argument('[place...]', 'the number of a volume, and a folder; of a container, the folder; by default, the root')
    .option('--snapshot <name>', 'the disks of this snapshot')
    .option('--target <name>', 'the target that has the backup')
    .option('--on <context>', 'the context that reads the backup; by default, that of the original')
    .action(act(list));
  group
    .command('get')
    .description('Downloads a file, or with --archive a folder as tar. An existing file is not replaced.')
    .argument('<source>', SOURCE)
    .argument('<place...>', 'the number of the volume, and the path as in the list; of a container, the path')
    .option('--to <file>', 'the new file, or - for standard output; by default, its name in this folder')
    .option('--archive', 'a folder with everything in it, as tar')
    .option('--snapshot <name>', 'the disks of this snapshot')
    .option('--target <name>', 'the target that has the backup')
    .option('--on <context>', 'the context that reads the backup; by default, that of the original')
    .action(act(get));
};

async function list(session: Session, name: string, place: readonly string[], flags: SourceFlags): Promise<void> {
  const source = await findSource(await session.api(), name, flags);
  if (source.hasVolumes && place.length === 0) {
    const { volumes = [] } = await source.open();
    return session.output.list(volumes, VOLUMES);
  }
  const folder = placeOf(place.length === (source.hasVolumes ? 1 : 0) ? [...place, '/'] : place, source);
  const { entries, isCut } = await readFolder(session, await source.open(), folder);
  if (isCut) session.output.note('The folder has more entries than the service lists.');
  await session.output.list(entries, ENTRIES);
}

async function readFolder(
  session: Session,
  { path, query }: OpenFiles,
  folder: Place,
): Promise<Pick<FilePageView, 'entries' | 'isCut'>> {
  const { http } = await session.api();
  const entries: FileEntryView[] = [];
  for (;;) {
    const { body } = await http.json<FilePageView>('GET', `${path}/entries`, {
      query: { ...query, ...folder, skip: entries.length, limit: PAGE },
      timeoutMs: LONGEST_SILENCE_MS,
    });
    entries.push(...body.entries);
    if (body.entries.length === 0 || entries.length >= body.total) return { entries, isCut: body.isCut };
  }
}

async function get(session: Session, name: string, place: readonly string[], flags: GetFlags): Promise<void> {
  const file = flags.to ?? fileNameOf(place.at(-1) ?? '', flags);
  expectNoTerminal(session, file);
  const api = await session.api();
  const source = await findSource(api, name, flags);
  const wanted = placeOf(place, source);
  if (flags.archive && !source.hasVolumes) throw ClientError.usage('Folders of containers are not sent as an archive.');
  const files = await source.open();
  const answer = await api.http.open('GET', `${files.path}/${flags.archive ? 'archive' : 'content'}`, {
    headers: { accept: '*/*' },
    query: { ...files.query, ...wanted },
    signal: session.environment.interrupted,
    timeoutMs: LONGEST_SILENCE_MS,
  });
  const bytes = await saveFile(session, answer, file);
  if (file === '-') return;
  await session.output.value({ file, bytes }, () => `${printable(file)}: ${readableBytes(bytes)}\n`, file);
}

/** @throws ClientError unless there is a volume where the source has them, and one path */
function placeOf(place: readonly string[], { hasVolumes }: { readonly hasVolumes: boolean }): Place {
  const [volume = '', path = ''] = hasVolumes ? place : ['', ...place];
  if (place.length !== (hasVolumes ? 2 : 1))
    throw ClientError.usage(hasVolumes ? 'Name the number of a volume, and one path.' : 'Name one path.');
  if (!hasVolumes) return { path };
  if (!/^\d{1,3}$/.test(volume))
    throw ClientError.usage(`"${volume}" is not the number of a volume: see headgate files list.`);
  return { volume, path };
}

/** The last part of the path, as the list shows it: it has no slash and no control character. */
function fileNameOf(path: string, { archive }: GetFlags): string {
  const name = path.split('/').findLast((part) => part !== '') ?? 'files';
  if (name === '.' || name === '..') throw ClientError.usage(`"${path}" has no name to save it under: use --to.`);
  return archive ? `${name}.tar` : name;
}
