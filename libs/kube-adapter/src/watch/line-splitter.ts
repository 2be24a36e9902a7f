const NEWLINE = 0x0a;

/** Longest line that is kept; an object of the API server is at most 1.5 MiB. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Cuts a byte stream into lines, wherever its chunks end. What follows the last newline is never handed out: it may be cut short. */
export class LineSplitter {
  private parts: Buffer[] = [];
  private length = 0;

  /** @throws Error when a line does not end */
  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.take(chunk.subarray(start, end));
      start = end + 1;
      if (line !== '') yield line;
    }
    if (start < chunk.length) this.keep(chunk.subarray(start));
  }

  private take(end: Buffer): string {
    if (this.length === 0) return end.toString('utf8');
    // Joined before it is decoded: a chunk may end inside a character.
    const line = Buffer.concat([...this.parts, end]).toString('utf8');
    this.parts = [];
    this.length = 0;
    return line;
  }

  private keep(rest: Buffer): void {
    this.length += rest.length;
    if (this.length > MAX_LINE_BYTES) throw new Error(`a line is longer than ${MAX_LINE_BYTES} bytes`);
    this.parts.push(rest);
  }
}
