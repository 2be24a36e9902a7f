/** Reads a protocol: yields how many bytes it needs next, and is given them. */
export type Parsing<T = void> = Generator<number, T, Buffer>;

/** Feeds a parser with bytes however they come; it never keeps more than the parser asked for. */
export class ByteParser {
  private rest: Buffer = Buffer.alloc(0);
  private need: number | undefined;

  constructor(private readonly parsing: Parsing) {
    this.advance(parsing.next());
  }

  /** @throws what the parser throws; it takes nothing more then */
  push(data: Buffer): void {
    this.rest = this.rest.length === 0 ? data : Buffer.concat([this.rest, data]);
    while (this.need !== undefined && this.rest.length >= this.need) {
      const bytes = this.rest.subarray(0, this.need);
      this.rest = this.rest.subarray(this.need);
      this.need = undefined;
      this.advance(this.parsing.next(bytes));
    }
    // Bytes after the end of what is understood are not kept.
    if (this.need === undefined) this.rest = Buffer.alloc(0);
  }

  private advance(step: IteratorResult<number, void>): void {
    this.need = step.done ? undefined : step.value;
  }
}

/** Passes over bytes, a little at a time. */
export function* skip(length: number): Parsing {
  for (let left = length; left > 0;) {
    const piece = Math.min(left, 65_536);
    yield piece;
    left -= piece;
  }
}
