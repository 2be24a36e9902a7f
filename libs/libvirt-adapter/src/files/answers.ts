import {
  plainText,
  textOfFile,
  type FileEntry,
  type FileKind,
  type FilePage,
  type FileVolume,
} from '@headgate/domain-contracts';
import { Fields } from './fields.js';

const MAX_VOLUMES = 256;
const MAX_WORD_CHARS = 100;
const MAX_SENTENCE_CHARS = 300;
/** The last moment that a `Date` can have. */
const MAX_SECONDS = 8.64e12;
const KINDS: Readonly<Record<string, FileKind>> = { f: 'file', d: 'folder', l: 'link', o: 'other' };

/** @param disks the names of the disks, in the order of their numbers in the guest */
export function readVolumes(content: Buffer, disks: readonly string[]): FileVolume[] {
  const fields = new Fields(content);
  const volumes: FileVolume[] = [];
  while (!fields.isAtEnd && volumes.length < MAX_VOLUMES) {
    const [disk, sizeBytes] = [fields.short(), fields.size()];
    const [name, fileSystem] = [fields, fields].map((one) => plainText(one.text(), MAX_WORD_CHARS)) as [string, string];
    const label = plainText(textOfFile(fields.bytes()), MAX_WORD_CHARS);
    const problem = plainText(fields.text(), MAX_SENTENCE_CHARS);
    volumes.push({
      number: volumes.length,
      disk: disks[disk] ?? disks[0] ?? '',
      name,
      fileSystem,
      label,
      sizeBytes,
      ...(problem !== '' && { problem }),
    });
  }
  return volumes;
}

/** @param limit more entries are ignored */
export function readPage(content: Buffer, limit: number): FilePage {
  const fields = new Fields(content);
  const [total, isCut] = [fields.int(), fields.byte() !== 0];
  const entries: FileEntry[] = [];
  while (!fields.isAtEnd && entries.length < limit) entries.push(readEntry(fields));
  return { total, isCut, entries };
}

function readEntry(fields: Fields): FileEntry {
  const kind = KINDS[String.fromCharCode(fields.byte())] ?? 'unreadable';
  const [sizeBytes, seconds, mode] = [fields.size(), fields.seconds(), fields.short() & 0o7777];
  const [name, target] = [textOfFile(fields.bytes()), textOfFile(fields.bytes())];
  return {
    name,
    kind,
    sizeBytes: kind === 'file' ? sizeBytes : 0,
    ...(kind !== 'unreadable' &&
      Math.abs(seconds) <= MAX_SECONDS && { modifiedAt: new Date(seconds * 1000).toISOString() }),
    mode,
    ...(kind === 'link' && { target }),
  };
}

/** The content of a question about a path. */
export function pathQuestion(volume: number, path: Buffer, { skip, limit } = { skip: 0, limit: 0 }): Buffer {
  const header = Buffer.alloc(10);
  header.writeUInt16BE(volume, 0);
  header.writeUInt32BE(skip, 2);
  header.writeUInt32BE(limit, 6);
  return Buffer.concat([header, path]);
}
