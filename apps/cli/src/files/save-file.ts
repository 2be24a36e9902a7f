import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { ClientError } from '../client/client-error.js';
import { networkFailure } from '../client/network-failure.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { Session } from '../session.js';
import { interruption } from '../terminal/prompt.js';

type Counted = (parts: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>;

/** Standard output. */
const OUTPUT = '-';

/**
 * Writes an answer to a new file, or with `-` to standard output. Part of a file does not stay behind.
 * @returns the number of bytes
 * @throws ClientError if the file exists, can't be written, or the answer breaks off
 */
export async function saveFile(session: Session, answer: IncomingMessage, file: string): Promise<number> {
  const { environment } = session;
  let bytes = 0;
  async function* counted(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const part of parts) {
      bytes += part.length;
      yield part;
    }
  }
  try {
    if (file === OUTPUT) await pipeline(answer, counted, environment.stdout, { end: false });
    else await writeNew(answer, counted, file);
  } catch (error) {
    if (environment.interrupted.aborted) throw interruption();
    throw error instanceof ClientError ? error : networkFailure(error, (await session.api()).http.access.url);
  }
  return bytes;
}

/** @throws ClientError before the download if a file is written to a terminal, which its bytes could control */
export function expectNoTerminal({ environment }: Session, file: string): void {
  if (file === OUTPUT && (environment.stdout as { readonly isTTY?: boolean }).isTTY)
    throw ClientError.usage('The bytes of a file could control the terminal: send them to a file or to a program.');
}

async function writeNew(answer: IncomingMessage, counted: Counted, file: string): Promise<void> {
  const { open, rm } = await import('node:fs/promises');
  // Only readable for the user: it may be a private key.
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    answer.destroy();
    throw cantWrite(file, error.code === 'EEXIST' ? 'it exists' : error.message);
  });
  try {
    await pipeline(answer, counted, handle.createWriteStream());
  } catch (error) {
    await rm(file, { force: true });
    throw isOfDisk(error) ? cantWrite(file, error.message) : error;
  }
}

/** The errors of the connection have other codes. */
const isOfDisk = (error: unknown): error is NodeJS.ErrnoException =>
  /^(ENOSPC|EDQUOT|EFBIG|EIO|EROFS)$/.test((error as NodeJS.ErrnoException).code ?? '');

const cantWrite = (file: string, reason: string): ClientError =>
  new ClientError(
    'FILE_NOT_WRITTEN',
    `${file} can't be written: ${reason}. Choose another one with --to.`,
    EXIT_CODES.failed,
  );
