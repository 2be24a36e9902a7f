import type { Readable } from 'node:stream';
import { ChainError, ExportCheck, type CheckedExport } from '@headgate/journal-chain';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import { boundedLines, TOO_LONG } from '../terminal/bounded-lines.js';

/** An entry has less than 16 KiB. */
const MAX_LINE_BYTES = 64 * 1024;

/** Checks the lines of an export. @throws ClientError JOURNAL_BROKEN with the first entry at which the chain breaks */
export async function verifyExport(stream: Readable, keptHead?: string): Promise<CheckedExport> {
  const check = new ExportCheck(keptHead);
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    for await (const line of boundedLines(stream, MAX_LINE_BYTES))
      check.add(line === TOO_LONG ? '' : decoded(decoder, line));
    return check.finish();
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    const { fault, number } = error;
    throw new ClientError('JOURNAL_BROKEN', error.message, EXIT_CODES.failed, { fault, number });
  }
}

/** Bytes that are not UTF-8 are no line of an export. */
function decoded(decoder: InstanceType<typeof TextDecoder>, line: Buffer): string {
  try {
    return decoder.decode(line);
  } catch {
    return '';
  }
}
