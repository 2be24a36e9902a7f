/**
 * An archive entry. It belongs to root unless `owner` is set.
 * @typedef {{ path: string, mode: number, owner?: number, data?: Buffer, link?: string }} ArchiveEntry
 */

const S_IFDIR = 0o040000;
const S_IFREG = 0o100000;
const S_IFLNK = 0o120000;

/**
 * Packs entries in the format of an initial RAM disk (cpio `newc`, see the kernel's
 * driver-api/early-userspace/buffer-format). The output is deterministic.
 * @param {ArchiveEntry[]} entries folders must precede their contents
 * @param {number} mtime seconds since 1970
 * @returns {Buffer}
 */
export function packCpio(entries, mtime) {
  const parts = entries.map((entry, index) => packEntry(entry, index + 1, mtime));
  parts.push(packEntry({ path: 'TRAILER!!!', mode: 0 }, 0, 0));
  return Buffer.concat(parts);
}

/**
 * @param {ArchiveEntry} entry
 * @param {number} inode
 * @param {number} mtime
 */
function packEntry({ path, mode, owner = 0, data, link }, inode, mtime) {
  const body = link === undefined ? (data ?? Buffer.alloc(0)) : Buffer.from(link);
  const kind = link !== undefined ? S_IFLNK : data !== undefined ? S_IFREG : inode === 0 ? 0 : S_IFDIR;
  const fields = [inode, kind | mode, owner, owner, 1, mtime, body.length, 0, 0, 0, 0, Buffer.byteLength(path) + 1, 0];
  const header = `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}${path}\0`;
  return Buffer.concat([padded(Buffer.from(header)), padded(body)]);
}

/** @param {Buffer} bytes */
const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
