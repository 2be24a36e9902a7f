/** Entries per page before it is split. Small enough that serializing one page again is cheap. */
const MAX_PAGE_ENTRIES = 128;

/** An array up to this size is joined after each change: that is faster than sending it in pieces. */
const MAX_BYTES_JOINED_AT_ONCE = 1024 ** 2;
/**
 * An array up to this size is joined when it is sent again. The copy of a larger one takes more memory than it is
 * worth.
 */
const MAX_JOINED_BYTES = 8 * 1024 ** 2;

interface Page<T> {
  readonly keys: string[];
  readonly values: T[];
  /**
   * The values as JSON, each with a comma before it, but not the first of the array; undefined after the page changed.
   */
  json: Buffer | undefined;
}

/**
 * Values sorted by their keys, with a cached JSON array of all of them. A change costs a binary search and the
 * serialization of one page, regardless of the number of pages.
 */
export class SortedPages<T> {
  private list: Page<T>[] = [];
  private chunks: readonly Buffer[] | undefined;
  private joined: readonly Buffer[] | undefined;
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
    const page = this.list[this.pageIndex(key)];
    if (!page) return false;
    const index = lowerBound(page.keys, key);
    if (page.keys[index] !== key) return false;
    page.keys.splice(index, 1);
    page.values.splice(index, 1);
    this.count--;
    this.touch(page);
    if (page.keys.length === 0) this.remove(page);
    return true;
  }

  *values(): Generator<T> {
    for (const page of this.list) yield* page.values;
  }

  /**
   * The JSON array of all values, in pieces that must not be modified. The piece of an unchanged page is the same
   * object as before, so a call after a change costs the serialization of one page.
   */
  pages(): readonly Buffer[] {
    return (this.chunks ??= [
      OPEN,
      ...this.list.map((page, index) => (page.json ??= this.serialize(page, index))),
      CLOSE,
    ]);
  }

  /** The same array in as few pieces as is worth it: joined from the second call after a change, unless it is large. */
  json(): readonly Buffer[] {
    if (this.joined) return this.joined;
    const isFirst = this.chunks === undefined;
    const chunks = this.pages();
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    if (bytes > (isFirst ? MAX_BYTES_JOINED_AT_ONCE : MAX_JOINED_BYTES)) return chunks;
    return (this.joined = [Buffer.concat(chunks, bytes)]);
  }

  private serialize({ values }: Page<T>, index: number): Buffer {
    const json = values.map((value) => JSON.stringify(this.present(value))).join(',');
    return Buffer.from(index === 0 ? json : `,${json}`);
  }

  private touch(page: Page<T>): void {
    page.json = undefined;
    this.chunks = undefined;
    this.joined = undefined;
  }

  private pageFor(key: string): Page<T> {
    const found = this.list[this.pageIndex(key)];
    if (found) return found;
    const page: Page<T> = { keys: [], values: [], json: undefined };
    this.list.push(page);
    return page;
  }

  /** The last page whose first key is not after `key`. */
  private pageIndex(key: string): number {
    let low = 0;
    let high = this.list.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.list[middle]?.keys[0] ?? '') <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  private remove(page: Page<T>): void {
    this.list.splice(this.list.indexOf(page), 1);
    // Another page may be the first one now.
    const [first] = this.list;
    if (first) first.json = undefined;
  }

  private split(page: Page<T>): void {
    const half = page.keys.length >>> 1;
    const rest: Page<T> = { keys: page.keys.splice(half), values: page.values.splice(half), json: undefined };
    this.list.splice(this.list.indexOf(page) + 1, 0, rest);
  }
}

const OPEN = Buffer.from('[');
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
