/** The headers that the relay knows, with their numbers. */
export const HEADER = {
  authorization: 0,
  connection: 1,
  'content-length': 2,
  'content-type': 3,
  date: 4,
  expect: 5,
  forwarded: 6,
  host: 7,
  'keep-alive': 8,
  'proxy-authenticate': 9,
  'proxy-authorization': 10,
  'proxy-connection': 11,
  te: 12,
  trailer: 13,
  'transfer-encoding': 14,
  upgrade: 15,
  'x-forwarded-for': 16,
  'x-forwarded-host': 17,
  'x-forwarded-proto': 18,
  'x-real-ip': 19,
} as const;
export type HeaderId = (typeof HEADER)[keyof typeof HEADER];

const NAMES = Object.keys(HEADER);
const NAME_LENGTHS = Uint8Array.from(NAMES, (name) => name.length);

/** A set of known headers: a bit for each. */
export type HeaderSet = number;

/** @throws Error for a header that the relay does not know */
export function headerSet(names: Iterable<string>): HeaderSet {
  let set = 0;
  for (const name of names) {
    if (!NAMES.includes(name)) throw new Error(`${name} is not a header that the relay knows`);
    set |= 1 << NAMES.indexOf(name);
  }
  return set;
}

const UNKNOWN = 31;
const CR = 13;
const LF = 10;
const TAB = 9;
const SPACE = 32;
const COLON = 58;
/** Turns ASCII letters to lower case. Other characters of header names stay different from those of known names. */
const LOWER = 0x20;

const TOKEN = 1;
const TEXT = 2;
const VISIBLE = 4;

/** What each byte may be a part of. */
const CLASSES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const isVisible = (byte > SPACE && byte < 127) || byte >= 128;
  const isToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]$/.test(String.fromCharCode(byte));
  return (isToken ? TOKEN : 0) | (isVisible || byte === SPACE || byte === TAB ? TEXT : 0) | (isVisible ? VISIBLE : 0);
});

/** The known headers by the length of their names. */
const BY_LENGTH: readonly (readonly { id: number; name: Buffer }[])[] = Array.from({ length: 32 }, (_, length) =>
  NAMES.flatMap((name, id) => (name.length === length ? [{ id, name: Buffer.from(name) }] : [])),
);

function idOf(bytes: Buffer, start: number, end: number): number {
  const candidates = BY_LENGTH[end - start];
  if (!candidates) return UNKNOWN;
  for (const { id, name } of candidates) {
    let at = 0;
    while (at < name.length && ((bytes[start + at] ?? 0) | LOWER) === name[at]) at++;
    if (at === name.length) return id;
  }
  return UNKNOWN;
}

/** The header lines of a message: the text of its head, and where each line begins. */
export class HeaderLines {
  /** @param starts where each line begins, and where the last one ends */
  private constructor(
    private readonly text: string,
    private readonly ids: readonly number[],
    private readonly starts: readonly number[],
    /** The known headers. */
    readonly set: HeaderSet,
    /** The known headers that occur more than once. */
    readonly repeated: HeaderSet,
  ) {}

  /**
   * @param bytes a head up to and including its empty line, and perhaps more
   * @param text the head, as latin1
   * @param begin where the header lines begin
   * @param isStrict whether a value must follow the colon immediately or after one space, and end without white space.
   *   Anything else is legal, but rare
   * @returns undefined if a line is invalid
   */
  static read(bytes: Buffer, text: string, begin: number, isStrict: boolean): HeaderLines | undefined {
    const ids: number[] = [];
    const starts: number[] = [begin];
    const end = text.length - 2;
    let set = 0;
    let repeated = 0;
    let at = begin;
    while (at < end) {
      const nameStart = at;
      while (((CLASSES[bytes[at] ?? 0] ?? 0) & TOKEN) !== 0) at++;
      if (at === nameStart || bytes[at] !== COLON) return undefined;
      const id = idOf(bytes, nameStart, at);
      at++;
      if (bytes[at] === SPACE) at++;
      const valueStart = at;
      while (((CLASSES[bytes[at] ?? 0] ?? 0) & TEXT) !== 0) at++;
      if (bytes[at] !== CR || bytes[at + 1] !== LF) return undefined;
      if (isStrict && at > valueStart && !(isVisible(bytes[valueStart]) && isVisible(bytes[at - 1]))) return undefined;
      at += 2;
      if (id !== UNKNOWN) {
        const bit = 1 << id;
        repeated |= set & bit;
        set |= bit;
      }
      ids.push(id);
      starts.push(at);
    }
    return at === end ? new HeaderLines(text, ids, starts, set, repeated) : undefined;
  }

  has(id: HeaderId): boolean {
    return (this.set & (1 << id)) !== 0;
  }

  isRepeated(id: HeaderId): boolean {
    return (this.repeated & (1 << id)) !== 0;
  }

  /** The value of the first header with this number. */
  value(id: HeaderId): string | undefined {
    return this.has(id) ? this.valueAt(this.ids.indexOf(id)) : undefined;
  }

  /** The values of all headers with this number. */
  values(id: HeaderId): string[] {
    return this.ids.flatMap((other, index) => (other === id ? [this.valueAt(index)] : []));
  }

  /** Name, value, name, value. */
  entries(): string[] {
    return this.ids.flatMap((_, index) => {
      const line = this.text.slice(this.startOf(index), this.startOf(index + 1));
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
  }

  /** The lines as received, without those of these headers and these names in lower case. */
  withoutNamed(dropped: HeaderSet, names: readonly string[]): string {
    let kept = '';
    for (const [index, id] of this.ids.entries()) {
      const line = this.text.slice(this.startOf(index), this.startOf(index + 1));
      const isDropped = id !== UNKNOWN && (dropped & (1 << id)) !== 0;
      if (!isDropped && !names.includes(line.slice(0, line.indexOf(':')).toLowerCase())) kept += line;
    }
    return kept;
  }

  /** The lines as received, without those of these headers. */
  without(dropped: HeaderSet): string {
    const last = this.startOf(this.ids.length);
    if ((this.set & dropped) === 0) return this.text.slice(this.startOf(0), last);
    let kept = '';
    let from = this.startOf(0);
    for (let index = 0; index < this.ids.length; index++) {
      const id = this.ids[index] ?? UNKNOWN;
      if (id === UNKNOWN || (dropped & (1 << id)) === 0) continue;
      const start = this.startOf(index);
      if (start > from) kept += this.text.slice(from, start);
      from = this.startOf(index + 1);
    }
    return last > from ? kept + this.text.slice(from, last) : kept;
  }

  /** The value of a known header, without the white space around it. */
  private valueAt(index: number): string {
    const { text } = this;
    let start = this.startOf(index) + (NAME_LENGTHS[this.ids[index] ?? 0] ?? 0) + 1;
    let end = this.startOf(index + 1) - 2;
    while (start < end && isWhiteSpace(text.charCodeAt(start))) start++;
    while (start < end && isWhiteSpace(text.charCodeAt(end - 1))) end--;
    return text.slice(start, end);
  }

  private startOf(index: number): number {
    return this.starts[index] ?? 0;
  }
}

const isVisible = (byte: number | undefined): boolean => ((CLASSES[byte ?? 0] ?? 0) & VISIBLE) !== 0;

const isWhiteSpace = (code: number): boolean => code === SPACE || code === TAB;
