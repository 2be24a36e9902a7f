import { randomUUID } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import {
  bytesOfFile,
  ContainerFiles,
  DomainError,
  type Clock,
  type FileKind,
  type FilePage,
  type FileRange,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { isNotFound, KubeApiError } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import { EXEC_PROTOCOLS } from '../consoles/exec-channels.js';
import { execTargetOf, notRunning, type ExecTarget } from '../consoles/exec-target.js';
import { CONTAINER } from '../containers/container-manifest.js';
import { FolderList, kindOf, listCommand, STAT_FORMAT } from './folder-list.js';
import { errorOfProgram, lacks } from './program-errors.js';
import { ProgramOutput, type ProgramEnd } from './program-output.js';

/** A folder with more entries is cut. */
const MAX_ENTRIES = 50_000;
const MAX_LIST_BYTES = 32 * 1024 ** 2;
/** A list that takes longer is cut. */
const MAX_LIST_MS = 30_000;
const MAX_STAT_CHARS = 200;
/** Enough for a disk that is slow. A pipe that has taken the place of a file prints nothing at all. */
const IDLE_MS = 30_000;
/** A program that can't start `stat`. Its errors about a path have a slash in that place. */
const NO_STAT = /^find: [^/\n]{0,4}stat[^/\n]{0,4}: /m;

/** Files through programs of the container: `find`, `stat`, `readlink` and `cat`, as its user runs them. */
export class KubeContainerFiles extends ContainerFiles {
  constructor(
    private readonly api: Pick<KubeApi, 'list' | 'socket'>,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async list(ref: InstanceRef, path: string, range: FileRange, signal: AbortSignal): Promise<FilePage> {
    const { target, argument } = await this.find(ref, path, 'folder', signal);
    const folder = argument === '/' ? argument : `${argument}/`;
    const mark = randomUUID();
    const list = new FolderList(folder, mark);
    let failure: DomainError | undefined;
    const errorOf = (end: ProgramEnd): DomainError | undefined => {
      if (NO_STAT.test(end.errors)) return lacks('stat');
      failure = errorOfProgram('find', end);
      // It also reports links that lead nowhere, and entries that are gone: that is known when all of them were read.
      return end.exitCode === 1 ? undefined : failure;
    };
    const output = await this.run(ref, target, listCommand(folder, mark), { signal, errorOf });
    const isCut = await this.fill(list, output);
    if (failure && list.count === 0) throw failure;
    const entries = list.sorted();
    return { total: entries.length, isCut, entries: entries.slice(range.skip, range.skip + range.limit) };
  }

  override async read(ref: InstanceRef, path: string, signal: AbortSignal): Promise<Readable> {
    const { target, argument } = await this.find(ref, path, 'file', signal);
    const output = await this.run(ref, target, ['cat', argument], { signal });
    await output.begun;
    return output;
  }

  /** @returns whether the list is cut */
  private async fill(list: FolderList, output: ProgramOutput): Promise<boolean> {
    let bytes = 0;
    let isLate = false;
    const cancel = this.clock.after(MAX_LIST_MS, () => {
      isLate = true;
      output.destroy(late('find'));
    });
    try {
      for await (const part of output) {
        list.add(part as Buffer);
        bytes += (part as Buffer).length;
        if (list.count >= MAX_ENTRIES || bytes >= MAX_LIST_BYTES) return true;
      }
      list.end();
      return false;
    } catch (error) {
      if (isLate && list.count > 0) return true;
      throw error;
    } finally {
      cancel();
    }
  }

  /** Finds an entry, and checks its kind before it is opened: a pipe would be read without an end. */
  private async find(ref: InstanceRef, path: string, wanted: 'file' | 'folder', signal: AbortSignal) {
    const argument = argumentOf(path);
    signal.throwIfAborted();
    const target = await execTargetOf(this.api, ref);
    const output = await this.run(ref, target, ['stat', '-L', '-c', STAT_FORMAT, argument], { signal });
    const kind = kindOf(await shortTextOf(output));
    if (kind !== wanted) throw new DomainError('WRONG_STATE', `${NAMES[kind]}, not a ${wanted}.`);
    return { target, argument };
  }

  private async run(
    ref: InstanceRef,
    { path, prefix }: ExecTarget,
    command: readonly string[],
    { signal, errorOf }: { signal: AbortSignal; errorOf?: (end: ProgramEnd) => DomainError | undefined },
  ): Promise<ProgramOutput> {
    const query = new URLSearchParams({ container: CONTAINER, stdout: 'true', stderr: 'true' });
    for (const argument of [...prefix, ...command]) query.append('command', argument);
    const [name = ''] = command;
    const socket = await this.api.socket(path, EXEC_PROTOCOLS, `?${query}`).catch((error: unknown) => {
      throw isNotFound(error) || KubeApiError.has(error, 400) ? notRunning(ref, error) : error;
    });
    return new ProgramOutput(socket, {
      clock: this.clock,
      idleMs: IDLE_MS,
      onIdle: () => late(name),
      errorOf: errorOf ?? ((end) => errorOfProgram(name, end)),
      signal,
    });
  }
}

const NAMES: Readonly<Record<FileKind, string>> = {
  file: 'This is a file',
  folder: 'This is a folder',
  link: 'This is a link',
  other: 'This is a device, a socket or a pipe',
  unreadable: 'This entry can not be read',
};

/**
 * The path as an argument, without slashes at its end.
 * @throws DomainError INVALID_INPUT, and NOT_SUPPORTED for bytes that a cluster does not pass to programs
 */
function argumentOf(path: string): string {
  const bytes = bytesOfFile(path);
  if (!isUtf8(bytes))
    throw new DomainError('NOT_SUPPORTED', 'A cluster passes only names in UTF-8 to programs, and this is none.');
  const names = bytes.toString().split('/').filter(Boolean);
  return `/${names.join('/')}`;
}

/** The programs of a container may print anything, without an end. */
async function shortTextOf(output: ProgramOutput): Promise<string> {
  let shown = '';
  for await (const part of output) {
    shown += (part as Buffer).toString('latin1');
    if (shown.length > MAX_STAT_CHARS) break;
  }
  return shown;
}

const late = (name: string): DomainError =>
  new DomainError(
    'BACKEND_TIMEOUT',
    `The program ${name} has printed nothing for ${IDLE_MS / 1000} seconds. It may wait in the container until that ends.`,
  );
