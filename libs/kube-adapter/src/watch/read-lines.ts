import type { IncomingMessage } from 'node:http';

const NEWLINE = 0x0a;

/** Longest line that is buffered. An object of the API server is at most 1.5 MiB. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

export interface LineListener {
  /** Called for every chunk, including chunks that complete no line. */
  onBytes(): void;
  /** Reading fails with the error that it throws. */
  onLine(line: string): void;
}

/** Reads a stream line by line to its end. Fails when the stream is cut off. */
export function readLines(connection: IncomingMessage, { onBytes, onLine }: LineListener): Promise<void> {
  const lines = new LineSplitter();
  return new Promise((resolve, reject) => {
    connection.on('data', (chunk: Buffer) => {
      onBytes();
      try {
        for (const line of lines.push(chunk)) onLine(line);
      } catch (error) {
        reject(error);
      }
    });
    connection.once('end', resolve);
    connection.once('error', reject);
    connection.once('close', () => reject(new Error('the watch was cut off')));
  });
}

/**
 * Splits a byte stream into lines, whatever the chunk boundaries. Discards an incomplete last line: it may be
 * truncated.
 */
export class LineSplitter {
  private parts: Buffer[] = [];
  private length = 0;

  constructor(private readonly maxLineBytes: number = MAX_LINE_BYTES) {}

  /** Whether no incomplete line is left. */
  get isAtLineEnd(): boolean {
    return this.length === 0;
  }

  /** @throws Error when a line is too long, by default longer than 16 MiB */
  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.complete(chunk.subarray(start, end));
      start = end + 1;
      if (line !== '') yield line;
    }
    if (start < chunk.length) this.buffer(chunk.subarray(start));
  }

  private complete(end: Buffer): string {
    if (this.length === 0) return end.toString('utf8');
    // Concatenated before decoding: a chunk may end inside a character.
    const line = Buffer.concat([...this.parts, end]).toString('utf8');
    this.parts = [];
    this.length = 0;
    return line;
  }

  private buffer(rest: Buffer): void {
    this.length += rest.length;
    if (this.length > this.maxLineBytes) throw new Error(`a line is longer than ${this.maxLineBytes} bytes`);
    this.parts.push(rest);
  }
}
