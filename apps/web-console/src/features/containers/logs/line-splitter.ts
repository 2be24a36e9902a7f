/** More of one line is not kept: a program may write for hours without a new line. */
const MAX_KEPT_CHARS = 64 * 1024;

/** Splits a text that arrives in pieces into lines. The rest of a line that is too long is left out. */
export class LineSplitter {
  private rest = '';

  push(piece: string): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      this.append(piece.slice(from, end));
      lines.push(this.rest);
      this.rest = '';
      from = end + 1;
    }
    this.append(piece.slice(from));
    return lines;
  }

  /** The last line, if it has no end. */
  flush(): string[] {
    const lines = this.rest === '' ? [] : [this.rest];
    this.rest = '';
    return lines;
  }

  private append(text: string): void {
    this.rest += text.slice(0, Math.max(0, MAX_KEPT_CHARS - this.rest.length));
  }
}
