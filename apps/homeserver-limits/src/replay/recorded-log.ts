import { open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** About a hundred requests, which take one or two milliseconds. */
const CHUNK_BYTES = 16 * 1024;

export interface RecordedLogOptions {
  /** How much of the end of the file is read. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Calls back for each line at the end of a request log, in turns with other work of the process.
 * @returns whether the file has more lines before them
 * @throws when the file can't be read, or when the signal aborts
 */
export async function eachRecentLine(
  path: string,
  { maxBytes, signal }: RecordedLogOptions,
  onLine: (line: string) => void,
): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - maxBytes);
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const decoder = new StringDecoder('utf8');
    let rest = '';
    // The first line is cut, unless it is that of the file.
    let isCut = from > 0;
    for (let at = from; at < size;) {
      const { bytesRead } = await file.read(chunk, 0, Math.min(CHUNK_BYTES, size - at), at);
      if (bytesRead === 0) break;
      at += bytesRead;
      const lines = (rest + decoder.write(chunk.subarray(0, bytesRead))).split('\n');
      rest = lines.pop()!;
      if (isCut && lines.length > 0) {
        lines.shift();
        isCut = false;
      }
      for (const line of lines) onLine(line);
      await nextTurn();
      signal.throwIfAborted();
    }
    // A gateway that runs writes its last line in parts.
    return from > 0;
  } finally {
    await file.close();
  }
}
