import { QueryError } from './query-error.js';

const SPACE = /\s/;

/** Reads a text from its beginning to its end, once. */
export class Scanner {
  at = 0;

  constructor(readonly text: string) {}

  isAt(part: string): boolean {
    return this.text.startsWith(part, this.at);
  }

  /** Whether a term ends here. */
  isAtBreak(): boolean {
    return this.at >= this.text.length || SPACE.test(this.text.charAt(this.at));
  }

  skipSpaces(): void {
    while (this.at < this.text.length && this.isAtBreak()) this.at++;
  }

  /** The characters up to a space or to one of the given characters, which stay. */
  until(ends = ''): string {
    const from = this.at;
    while (!this.isAtBreak() && !ends.includes(this.text.charAt(this.at))) this.at++;
    return this.text.slice(from, this.at);
  }

  /**
   * A text in quotes, in which `\"` is a quote and `\\` a backslash.
   * @throws QueryError without a closing quote, or with text directly after it
   */
  quoted(ends = ''): string {
    const from = this.at++;
    let content = '';
    for (; !this.isAt('"'); this.at++) {
      if (this.at >= this.text.length) throw new QueryError('This quote is not closed; add a " at the end.', from);
      if (this.isAt('\\"') || this.isAt('\\\\')) this.at++;
      content += this.text.charAt(this.at);
    }
    this.at++;
    if (!this.isAtBreak() && !ends.includes(this.text.charAt(this.at)))
      throw new QueryError('A space must follow the closing quote.', this.at);
    return content;
  }
}
