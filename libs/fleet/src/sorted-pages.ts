/** Entries per page before it is split. Small enough that serializing one page again is cheap. */
const MAX_PAGE_ENTRIES = 128;

/** An array up to this size is joined at once: that is faster than sending it in pieces. */
const MAX_JOINED_BYTES = 1_048_576;

interface Page<T> {
  readonly keys: string[];
  readonly values: T[];
  /** The values as JSON, joined by commas; undefined after the page changed. */
  json: Buffer | undefined;
}

/**
 * Values sorted by their keys, with a cached JSON array of all of them. A change costs a binary search and the serialization of
 * one page, regardless of the number of pages.
 */
export class SortedPages<T> {
  private pages: Page<T>[] = [];
  private chunks: readonly Buffer[] | undefined;
  private count = 0;

  /** @param present turns a value into its JSON value */
  constructor(private readonly present: (value: T) => unknown) {}

  get size(): number {
    return this.count;
  }

  set(key: string, value: T): void {
    const page = this.pageFor(key);
    const index = lowerBound(page.keys, key);
    if (page.keys[index] === key) {
      page.values[index] = value;
    } else {
      page.keys.splice(index, 0, key);
      page.values.splice(index, 0, value);
      this.count++;
    }
    this.touch(page);
    if (page.keys.length > MAX_PAGE_ENTRIES) this.split(page);
  }

  delete(key: string): boolean {
    const page = this.pages[this.pageIndex(key)];
    if (!page) return false;
    const index = lowerBound(page.keys, key);
    if (page.keys[index] !== key) return false;
    page.keys.splice(index, 1);
    page.values.splice(index, 1);
    this.count--;
    this.touch(page);
    if (page.keys.length === 0) this.pages.splice(this.pages.indexOf(page), 1);
    return true;
  }

  *values(): Generator<T> {
    for (const page of this.pages) yield* page.values;
  }

  /**
   * The JSON array of all values, in pieces that must not be modified. For a large array, the first call after a change returns the
   * pages, so that it costs the same for any number of values; later calls return them joined, which is faster to send.
   */
  json(): readonly Buffer[] {
    const isFirst = this.chunks === undefined;
    const chunks = this.chunks ?? this.pageChunks();
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    this.chunks =
      chunks.length > 1 && (!isFirst || bytes <= MAX_JOINED_BYTES) ? [Buffer.concat(chunks, bytes)] : chunks;
    return this.chunks;
  }

  private pageChunks(): Buffer[] {
    const parts: Buffer[] = [OPEN];
    this.pages.forEach((page, index) => {
      if (index > 0) parts.push(COMMA);
      page.json ??= Buffer.from(page.values.map((value) => JSON.stringify(this.present(value))).join(','));
      parts.push(page.json);
    });
    parts.push(CLOSE);
    return parts;
  }

  private touch(page: Page<T>): void {
    page.json = undefined;
    this.chunks = undefined;
  }

  private pageFor(key: string): Page<T> {
    const found = this.pages[this.pageIndex(key)];
    if (found) return found;
    const page: Page<T> = { keys: [], values: [], json: undefined };
    this.pages.push(page);
    return page;
  }

  /** The last page whose first key is not after `key`. */
  private pageIndex(key: string): number {
    let low = 0;
    let high = this.pages.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.pages[middle]?.keys[0] ?? '') <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  private split(page: Page<T>): void {
    const half = page.keys.length >>> 1;
    const rest: Page<T> = { keys: page.keys.splice(half), values: page.values.splice(half), json: undefined };
    this.pages.splice(this.pages.indexOf(page) + 1, 0, rest);
  }
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
