import type { Readable } from 'node:stream';

/** A line that is longer than allowed; its bytes were skipped. */
export const TOO_LONG = Symbol('a line that is too long');

/**
 * The lines of a stream, split at line feeds only, without buffering more than one of them.
 * @param maxBytes a longer line is `TOO_LONG`
 */
export async function* boundedLines(stream: Readable, maxBytes: number): AsyncGenerator<Buffer | typeof TOO_LONG> {
  let begun: Buffer[] = [];
  let length = 0;
  const take = (): Buffer | typeof TOO_LONG => {
    const line = length > maxBytes ? TOO_LONG : Buffer.concat(begun);
    [begun, length] = [[], 0];
    return line;
  };
  for await (const part of stream) {
    let rest = Buffer.from(part as Buffer | string);
    for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
      length += end;
      if (length <= maxBytes) begun.push(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      yield take();
    }
    length += rest.length;
    if (length <= maxBytes) begun.push(rest);
    else begun = [];
  }
  if (length > 0) yield take();
}
