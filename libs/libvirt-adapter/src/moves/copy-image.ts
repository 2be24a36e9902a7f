import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { ZERO_RUN_BYTES, type LocalDisk } from '@headgate/domain-contracts';
import { englishEnvironment, limitArguments, type ProgramResult } from '../programs/run-program.js';
import { translateFailure } from '../programs/translate-failure.js';

export interface ImageCopy {
  readonly from: LocalDisk;
  /** A blank image, or one that was interrupted, which is at least as large as the source. */
  readonly to: LocalDisk;
  /** The size of the disk, which limits that of the file. */
  readonly sizeBytes: number;
  /** @param fraction how much has been copied, from 0 to 1 */
  readonly report: (fraction: number) => void;
  readonly signal: AbortSignal;
}

const GIB = 1024 ** 3;
const ADDRESS_SPACE_BYTES = 4 * GIB;
const CPU_SECONDS = 6 * 60 * 60;
/** Room for the metadata of a qcow2 image, besides its data. */
const OVERHEAD_BYTES = 64 * 1024 ** 2;
const REQUESTS = 8;
const MAX_OUTPUT_CHARS = 4096;
const SECTOR_BYTES = 512;
const PROGRESS = /\((\d+(?:\.\d+)?)\/100%\)/g;
/** Exit code of `setpriv` and `prlimit` for a program that does not exist. */
const NOT_FOUND = 127;

/**
 * Copies the content that the guest sees from one local image into another one with a single program, which reads and
 * writes the files itself. The kernel ends it with this process, however this process ends, so that nothing writes to
 * the new disk after a restart. QEMU's locks keep VMs with one of the two disks from starting meanwhile.
 * @returns the space that the new file takes; undefined, and nothing was changed, where the program can't be run like
 *   this
 * @throws DomainError BUSY, VOLUME_NOT_FOUND, INSUFFICIENT_STORAGE, BACKEND_FAILED
 */
export async function copyImage(copy: ImageCopy): Promise<number | undefined> {
  const { from, to, sizeBytes, report, signal } = copy;
  signal.throwIfAborted();
  // The prefix of a relative path, up to its first colon, could be taken for a protocol of QEMU.
  if (sizeBytes === 0 || !isAbsolute(from.path) || !isAbsolute(to.path)) return undefined;
  const result = await run(copy);
  signal.throwIfAborted();
  if (result.missing) return undefined;
  if (result.code !== 0) throw translateFailure('qemu-img', result);
  const usedBytes = await store(to.path);
  report(1);
  return Math.min(usedBytes, sizeBytes);
}

function argumentsOf({ from, to, sizeBytes }: ImageCopy): string[] {
  const fileBytes = Math.ceil(sizeBytes * 1.01) + OVERHEAD_BYTES;
  return [
    ...['--pdeathsig', 'KILL', '--'],
    ...['prlimit', ...limitArguments({ addressSpaceBytes: ADDRESS_SPACE_BYTES, cpuSeconds: CPU_SECONDS, fileBytes })],
    ...['--', 'qemu-img', 'convert', '-p'],
    // Into the existing file, whose content is replaced with zeros as well: an interrupted copy may have left something
    // there.
    ...['-n', '-S', String(ZERO_RUN_BYTES)],
    ...['-W', '-m', String(REQUESTS)],
    // The default may damage the tables of the image when the machine fails.
    ...['-t', 'writeback'],
    // Both formats are given: a guest writes the content of its disk.
    ...['-f', from.format, '-O', to.format, '--', from.path, to.path],
  ];
}

/** Resolves once the program has ended and both files are free, also when it is canceled. */
function run(copy: ImageCopy): Promise<ProgramResult> {
  const { report, signal } = copy;
  return new Promise((resolve) => {
    const child = spawn('setpriv', argumentsOf(copy), {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: englishEnvironment(),
    });
    let [stdout, stderr] = ['', ''];
    const cancel = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', cancel, { once: true });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = `${stdout}${text}`.slice(-MAX_OUTPUT_CHARS);
      const [percent] = [...stdout.matchAll(PROGRESS)].slice(-1).map(([, digits]) => Number(digits));
      if (percent !== undefined) report(Math.min(1, percent / 100));
    });
    child.stderr
      .setEncoding('utf8')
      .on('data', (text: string) => (stderr = `${stderr}${text}`.slice(-MAX_OUTPUT_CHARS)));
    const end = (code: number | null, missing: boolean): void => {
      signal.removeEventListener('abort', cancel);
      resolve({ code, stdout, stderr: `error: ${lastLine(stderr)}`, ...(missing && { missing }) });
    };
    // Also if a signal can't be sent, when it ends later.
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) end(null, error.code === 'ENOENT');
    });
    child.once('close', (code) => end(code, code === NOT_FOUND));
  });
}

/** The program does not wait until its writes are on the disk. */
async function store(path: string): Promise<number> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
    return (await file.stat()).blocks * SECTOR_BYTES;
  } finally {
    await file.close();
  }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
