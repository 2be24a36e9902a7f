import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

const CHUNK_BYTES = 4 * 1024 * 1024;

/** Calls back for each line of a file, without the whole file in memory. @throws when the file can't be read */
export function eachLine(path: string, onLine: (line: string) => void): void {
  const file = openSync(path, 'r');
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const decoder = new StringDecoder('utf8');
    let rest = '';
    for (let length = readSync(file, chunk); length > 0; length = readSync(file, chunk)) {
      const text = rest + decoder.write(chunk.subarray(0, length));
      let from = 0;
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
        onLine(text.slice(from, end));
        from = end + 1;
      }
      rest = text.slice(from);
    }
    rest += decoder.end();
    if (rest !== '') onLine(rest);
  } finally {
    closeSync(file);
  }
}
