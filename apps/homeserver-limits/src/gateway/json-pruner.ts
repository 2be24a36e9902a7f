const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

const FIRST_BLOCK_BYTES = 64 * 1024;
const NULL = Buffer.from('null');

export interface JsonPrunerOptions {
  /** The names of the members that are left out, at any depth. Their values become null. */
  readonly dropped: readonly string[];
  /** How much may remain. */
  readonly maxBytes: number;
}

/** More than this many bytes remain. */
export class PrunedTooLong extends Error {
  override name = 'PrunedTooLong';
}

/**
 * Drops members from JSON while it arrives, so that a long response takes little memory and little time at a time. It
 * does not check the JSON: the rest is parsed, and is invalid if the whole was, apart from the dropped values.
 */
export class JsonPruner {
  private readonly dropped: readonly Buffer[];
  private kept: Buffer<ArrayBuffer> = Buffer.allocUnsafeSlow(FIRST_BLOCK_BYTES);
  private length = 0;
  /** For each open bracket, whether it is that of an object. */
  private readonly isObject: boolean[] = [];
  private inString = false;
  private isEscaped = false;
  /** The next backslash in the chunk, or its end. */
  private backslash = -1;
  /** The next string is the name of a member. */
  private expectsName = false;
  /** Where the current name begins in the kept bytes; -1 within other strings. */
  private nameStart = -1;
  /** The next value is dropped. */
  private dropsNext = false;
  /** The depth at which the dropped value ends; -1 outside of one. */
  private dropDepth = -1;

  constructor(private readonly options: JsonPrunerOptions) {
    this.dropped = options.dropped.map((name) => Buffer.from(name));
  }

  /** @throws PrunedTooLong */
  write(chunk: Buffer): void {
    let keptFrom = this.dropDepth < 0 ? 0 : -1;
    this.backslash = -1;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (this.inString) {
        at = this.endOfString(chunk, at);
        if (!this.inString && this.nameStart >= 0) keptFrom = this.endName(chunk, keptFrom, at);
        continue;
      }
      // Most bytes outside of strings are digits and letters.
      if (byte < QUOTE || (byte > COLON && byte < OPEN_ARRAY) || (byte > CLOSE_ARRAY && byte < OPEN_OBJECT)) continue;
      keptFrom = this.readMark(byte, chunk, keptFrom, at);
    }
    if (keptFrom >= 0) this.keep(chunk, keptFrom, chunk.length);
  }

  end(): Buffer {
    return this.kept.subarray(0, this.length);
  }

  /** @returns the quote that ends the string, or the end of the chunk */
  private endOfString(chunk: Buffer, from: number): number {
    let at = from;
    if (this.isEscaped) {
      this.isEscaped = false;
      at++;
    }
    for (;;) {
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote < 0 ? chunk.length : quote;
      if (this.backslash < at) this.backslash = indexOrEnd(chunk, BACKSLASH, at);
      if (this.backslash > end || this.backslash === chunk.length) {
        this.inString = quote < 0;
        return end;
      }
      // It escapes the next character, which may be in the next chunk.
      at = this.backslash + 2;
      if (at <= chunk.length) continue;
      this.isEscaped = true;
      return chunk.length;
    }
  }

  private readMark(byte: number, chunk: Buffer, keptFrom: number, at: number): number {
    switch (byte) {
      case QUOTE:
        return this.beginString(chunk, keptFrom, at);
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        this.isObject.push(byte === OPEN_OBJECT);
        this.expectsName = byte === OPEN_OBJECT;
        return keptFrom;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY: {
        const next = this.endDropped(keptFrom, at);
        this.isObject.pop();
        this.expectsName = false;
        return next;
      }
      case COMMA: {
        const next = this.endDropped(keptFrom, at);
        this.expectsName = this.isObject.at(-1) ?? false;
        return next;
      }
      case COLON:
        return this.beginValue(chunk, keptFrom, at);
      default:
        return keptFrom;
    }
  }

  private beginString(chunk: Buffer, keptFrom: number, at: number): number {
    this.inString = true;
    this.nameStart = -1;
    if (!this.expectsName || keptFrom < 0) return keptFrom;
    // Names may be split between chunks, so they are compared where they are kept.
    this.keep(chunk, keptFrom, at + 1);
    this.nameStart = this.length;
    return at + 1;
  }

  private endName(chunk: Buffer, keptFrom: number, at: number): number {
    this.keep(chunk, keptFrom, at);
    const name = this.kept.subarray(this.nameStart, this.length);
    this.dropsNext = this.dropped.some((dropped) => dropped.equals(name));
    this.nameStart = -1;
    return at;
  }

  private beginValue(chunk: Buffer, keptFrom: number, at: number): number {
    this.expectsName = false;
    if (!this.dropsNext || keptFrom < 0) return keptFrom;
    this.dropsNext = false;
    this.keep(chunk, keptFrom, at + 1);
    this.keep(NULL, 0, NULL.length);
    this.dropDepth = this.isObject.length;
    return -1;
  }

  /** A dropped value ends before a comma or a bracket at its own depth. */
  private endDropped(keptFrom: number, at: number): number {
    if (this.dropDepth !== this.isObject.length) return keptFrom;
    this.dropDepth = -1;
    return at;
  }

  private keep(bytes: Buffer, from: number, to: number): void {
    const length = this.length + to - from;
    if (length > this.options.maxBytes) throw new PrunedTooLong(`more than ${this.options.maxBytes} bytes remain`);
    if (length > this.kept.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, this.kept.length * 2));
      this.kept.copy(larger, 0, 0, this.length);
      this.kept = larger;
    }
    bytes.copy(this.kept, this.length, from, to);
    this.length = length;
  }
}

function indexOrEnd(chunk: Buffer, byte: number, from: number): number {
  const index = chunk.indexOf(byte, from);
  return index < 0 ? chunk.length : index;
}
