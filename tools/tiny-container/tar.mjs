/** @typedef {import('../tiny-guest/cpio.mjs').ArchiveEntry} ArchiveEntry */

const BLOCK_BYTES = 512;
const FILE = '0';
const LINK = '2';
const FOLDER = '5';

/**
 * Packs entries as a tar archive of the format `ustar` (POSIX.1-1988). Everything belongs to the user and group 0 unless
 * an entry has an owner. The output is deterministic.
 * @param {ArchiveEntry[]} entries folders must precede their contents
 * @param {number} mtime seconds since 1970
 * @returns {Buffer}
 */
export function packTar(entries, mtime) {
  const parts = entries.flatMap((entry) => packEntry(entry, mtime));
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK_BYTES)]);
}

/**
 * @param {ArchiveEntry} entry
 * @param {number} mtime
 */
function packEntry({ path, mode, owner = 0, data, link }, mtime) {
  const type = link !== undefined ? LINK : data !== undefined ? FILE : FOLDER;
  const name = type === FOLDER ? `${path}/` : path;
  if (Buffer.byteLength(name) > 100 || Buffer.byteLength(link ?? '') > 100)
    throw new Error(`${path} is longer than the 100 bytes that a name in a tar archive may have.`);
  const body = type === FILE ? (data ?? Buffer.alloc(0)) : Buffer.alloc(0);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0);
  writeOctal(header, 100, 8, mode);
  writeOctal(header, 108, 8, owner);
  writeOctal(header, 116, 8, owner);
  writeOctal(header, 124, 12, body.length);
  writeOctal(header, 136, 12, mtime);
  // The checksum counts its own field as blanks.
  header.write(' '.repeat(8), 148);
  header.write(type, 156);
  header.write(link ?? '', 157);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padding = (BLOCK_BYTES - (body.length % BLOCK_BYTES)) % BLOCK_BYTES;
  return [header, body, Buffer.alloc(padding)];
}

/**
 * @param {Buffer} header
 * @param {number} at
 * @param {number} bytes
 * @param {number} value
 */
const writeOctal = (header, at, bytes, value) =>
  header.write(`${value.toString(8).padStart(bytes - 1, '0')}\0`, at, 'latin1');
