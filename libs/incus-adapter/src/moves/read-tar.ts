import { DomainError } from '@headgate/domain-contracts';
import { ByteReader } from './byte-reader.js';

/** The unit of the archive: headers have this size, and contents are filled up to a multiple of it. */
export const TAR_BLOCK_BYTES = 512;
/** Extended headers have names, numbers and attributes: the kernel limits an attribute to 64 KiB. */
const MAX_EXTENDED_BYTES = 16 * 1024 ** 2;

/** An entry of an archive. Its content has to be read before the next entry. */
export interface TarEntry {
  readonly name: string;
  /** One letter: `0` a file, `1` a hard link, `2` a symbolic link, `5` a folder. */
  readonly type: string;
  /** The target of a link; otherwise empty. */
  readonly link: string;
  readonly sizeBytes: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** In whole seconds. */
  readonly mtime: number;
  /** The extended attributes of the file, sorted by their names: each is a name, an equals sign and any bytes. */
  readonly attributes: readonly Buffer[];
  /** The headers as they are in the archive, the extended ones included. */
  readonly head: Buffer;
  /** The content without what fills it up. */
  content(): AsyncGenerator<Buffer>;
}

type Records = ReadonlyMap<string, Buffer>;

/**
 * The entries of an archive with the extensions of POSIX (PAX) and of GNU, as Go and GNU tar write them.
 * https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_01
 * @throws DomainError BACKEND_FAILED when it is no such archive, or ends in the middle
 */
export async function* readTar(stream: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const reader = new ByteReader(stream);
  for (;;) {
    const entry = await readEntry(reader);
    if (!entry) break;
    let isRead = entry.sizeBytes === 0;
    const content = async function* (): AsyncGenerator<Buffer> {
      if (isRead) return;
      isRead = true;
      yield* reader.pass(entry.sizeBytes);
      await reader.read(paddingOf(entry.sizeBytes));
    };
    yield { ...entry, content };
    for await (const _skipped of content());
  }
  for await (const _rest of reader.all());
}

/** @returns undefined at the end of the archive */
async function readEntry(reader: ByteReader): Promise<Omit<TarEntry, 'content'> | undefined> {
  const head: Buffer[] = [];
  const records = new Map<string, Buffer>();
  for (;;) {
    const header = await reader.read(TAR_BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) return undefined;
    checkSum(header);
    head.push(header);
    const type = header.toString('latin1', 156, 157);
    const sizeBytes = numberAt(header, 124, 12);
    if (!'xgLK'.includes(type)) return describe(header, records, head);
    if (sizeBytes > MAX_EXTENDED_BYTES) throw invalid('has an extended header that is too large');
    const content = await reader.read(sizeBytes);
    head.push(content, await reader.read(paddingOf(sizeBytes)));
    if (type === 'x') for (const [key, value] of recordsIn(content)) records.set(key, value);
    // GNU tar: the text ends with a zero.
    if (type === 'L') records.set('path', content.subarray(0, -1));
    if (type === 'K') records.set('linkpath', content.subarray(0, -1));
  }
}

function describe(header: Buffer, records: Records, head: readonly Buffer[]): Omit<TarEntry, 'content'> {
  const number = (key: string, offset: number, length: number): number => {
    const record = records.get(key);
    return record ? Math.floor(Number(record.toString())) : numberAt(header, offset, length);
  };
  const prefix = header.toString('latin1', 257, 262) === 'ustar' ? textAt(header, 345, 155) : '';
  const name = textAt(header, 0, 100);
  const type = header.toString('latin1', 156, 157);
  return {
    name: records.get('path')?.toString() ?? (prefix === '' ? name : `${prefix}/${name}`),
    type: type === '\0' ? '0' : type,
    link: records.get('linkpath')?.toString() ?? textAt(header, 157, 100),
    sizeBytes: '0\0'.includes(type) ? number('size', 124, 12) : 0,
    mode: numberAt(header, 100, 8),
    uid: number('uid', 108, 8),
    gid: number('gid', 116, 8),
    mtime: number('mtime', 136, 12),
    attributes: [...records]
      .filter(([key]) => key.startsWith('SCHILY.xattr.'))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, value]) => Buffer.concat([Buffer.from(`${key}=`), value])),
    head: Buffer.concat(head),
  };
}

/** `<length> <key>=<value>\n`, where the length counts all of it. */
function* recordsIn(content: Buffer): Generator<[key: string, value: Buffer]> {
  for (let start = 0; start < content.length;) {
    const space = content.indexOf(' ', start);
    const length = Number(content.toString('latin1', start, space));
    const equals = content.indexOf('=', space);
    if (space === -1 || equals === -1 || !(length > 0)) throw invalid('has an extended header that is damaged');
    yield [content.toString('utf8', space + 1, equals), content.subarray(equals + 1, start + length - 1)];
    start += length;
  }
}

/** Octal digits, or a large number in bytes after a first one of 0x80. */
function numberAt(header: Buffer, offset: number, length: number): number {
  if ((header[offset] ?? 0) & 0x80) return Number(BigInt(`0x${header.toString('hex', offset + 1, offset + length)}`));
  const digits = textAt(header, offset, length).trim();
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

function textAt(header: Buffer, offset: number, length: number): string {
  const text = header.subarray(offset, offset + length);
  const end = text.indexOf(0);
  return text.toString('utf8', 0, end === -1 ? length : end);
}

/** The sum of the header, with spaces in place of the sum itself. */
export function sumOf(header: Buffer): number {
  let sum = 0;
  for (const [index, byte] of header.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte;
  return sum;
}

function checkSum(header: Buffer): void {
  if (sumOf(header) !== numberAt(header, 148, 8)) throw invalid('has a damaged header');
}

export const paddingOf = (sizeBytes: number): number =>
  (TAR_BLOCK_BYTES - (sizeBytes % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES;

const invalid = (problem: string): DomainError => new DomainError('BACKEND_FAILED', `The archive ${problem}.`);
