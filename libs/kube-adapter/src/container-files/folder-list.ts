import { DomainError, textOfFile, type FileEntry, type FileKind } from '@headgate/domain-contracts';

const NEWLINE = 0x0a;
/** A name has at most 255 bytes, a target 4095, and the folder at most 16 KiB. */
const MAX_RECORD_BYTES = 65_536;
const HEADER = /^ (?:([EL]) ([0-9a-f]{1,8}) (\d{1,20}) (-?\d{1,20})|(T)) /;
/** No name has a slash, so this ends each one. */
const END_OF_NAME = '//\n';
const MAX_MS = 8.64e15;

const TYPE_MASK = 0o170000;
const KINDS: Readonly<Record<number, FileKind>> = { 0o100000: 'file', 0o040000: 'folder', 0o120000: 'link' };

/** What `stat` says about a file: its mode in hexadecimal and its size. */
export const STAT_FORMAT = '%f %s';

/** @throws DomainError BACKEND_FAILED */
export function kindOf(text: string): FileKind {
  const mode = /^([0-9a-f]{1,8}) \d+\n$/.exec(text)?.[1];
  if (mode === undefined) throw unreadable();
  return kindOfMode(Number.parseInt(mode, 16));
}

/**
 * The command that lists a folder, with the options that busybox and GNU have. A mark that no name can have, because it
 * is new, begins each record: E an entry, L the entry that a link leads to, and T a link with its target.
 * @param folder ends with a slash, so that a link is followed
 */
export function listCommand(folder: string, mark: string): readonly string[] {
  const status = (letter: string): string => `${mark} ${letter} %f %s %Y %n//`;
  return [
    ...['find', folder, '-mindepth', '1', '-maxdepth', '1'],
    // `-exec … +` works in busybox only outside of parentheses.
    ...['-exec', 'stat', '-c', status('E'), '{}', '+'],
    ...['-type', 'l', '-exec', 'stat', '-L', '-c', status('L'), '{}', '+'],
    ...['-exec', 'stat', '-c', `${mark} T %n//`, '{}', ';', '-exec', 'readlink', '{}', ';'],
  ];
}

/** Reads the output of `listCommand`, which is untrusted. */
export class FolderList {
  private readonly entries = new Map<string, FileEntry & { readonly bytes: Buffer }>();
  private readonly targets = new Map<string, Buffer>();
  private readonly targetKinds = new Map<string, FileKind>();
  private readonly mark: Buffer;
  private readonly folder: Buffer;
  private pending: Buffer = Buffer.alloc(0);

  constructor(folder: string, mark: string) {
    this.folder = Buffer.from(folder);
    this.mark = Buffer.from(mark);
  }

  get count(): number {
    return this.entries.size;
  }

  /** @throws DomainError BACKEND_FAILED */
  add(part: Buffer): void {
    const bytes = this.pending.length > 0 ? Buffer.concat([this.pending, part]) : part;
    let start = 0;
    for (;;) {
      const next = bytes.indexOf(this.mark, start + (this.startsAt(bytes, start) ? this.mark.length : 0));
      if (next < 0) break;
      this.record(bytes.subarray(start, next));
      start = next;
    }
    this.pending = bytes.subarray(start);
    if (this.pending.length > MAX_RECORD_BYTES) throw unreadable();
  }

  /** The last record is complete: the program has ended. @throws DomainError BACKEND_FAILED */
  end(): void {
    this.record(this.pending);
    this.pending = Buffer.alloc(0);
  }

  /** Sorted by the bytes of their names. */
  sorted(): readonly FileEntry[] {
    return [...this.entries.entries()]
      .sort(([, one], [, other]) => Buffer.compare(one.bytes, other.bytes))
      .map(([key, { bytes: _bytes, ...entry }]) => (entry.kind === 'link' ? this.linkOf(key, entry) : entry));
  }

  private linkOf(key: string, entry: FileEntry): FileEntry {
    const target = this.targets.get(key);
    const targetKind = this.targetKinds.get(key);
    return {
      ...entry,
      ...(target && target.length > 0 && { target: textOfFile(target) }),
      ...(targetKind !== undefined && { targetKind }),
    };
  }

  private startsAt(bytes: Buffer, at: number): boolean {
    return bytes.subarray(at, at + this.mark.length).equals(this.mark);
  }

  private record(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const rest = bytes.subarray(this.mark.length);
    const header = HEADER.exec(rest.toString('latin1', 0, 64));
    const path = header ? rest.subarray(header[0].length) : rest;
    const end = path.indexOf(END_OF_NAME);
    const isInFolder = path.subarray(0, this.folder.length).equals(this.folder);
    if (!header || !isInFolder || end <= this.folder.length || !this.startsAt(bytes, 0)) throw unreadable();
    const [, letter, mode = '', size = '', seconds = ''] = header;
    const name = path.subarray(this.folder.length, end);
    const key = name.toString('latin1');
    if (letter === undefined) return void this.targets.set(key, lineOf(path.subarray(end + END_OF_NAME.length)));
    const bits = Number.parseInt(mode, 16);
    if (letter === 'L') return void this.targetKinds.set(key, kindOfMode(bits));
    this.entries.set(key, { bytes: name, ...entryOf(name, bits, size, seconds) });
  }
}

function entryOf(name: Buffer, bits: number, size: string, seconds: string): FileEntry {
  const kind = kindOfMode(bits);
  const ms = Number(seconds) * 1000;
  return {
    name: textOfFile(name),
    kind,
    sizeBytes: kind === 'file' ? Math.min(Number(size), Number.MAX_SAFE_INTEGER) : 0,
    ...(Math.abs(ms) <= MAX_MS && { modifiedAt: new Date(ms).toISOString() }),
    mode: bits & 0o7777,
  };
}

const lineOf = (bytes: Buffer): Buffer => (bytes.at(-1) === NEWLINE ? bytes.subarray(0, -1) : bytes);

const kindOfMode = (bits: number): FileKind => KINDS[bits & TYPE_MASK] ?? 'other';

const unreadable = (): DomainError =>
  new DomainError('BACKEND_FAILED', 'The programs of this container list files in a way that is not known here.');
