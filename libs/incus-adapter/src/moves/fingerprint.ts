import { createHash } from 'node:crypto';
import { readTar } from './read-tar.js';

/** Descriptions, which the servers write, and the folders around the file systems. */
const NOT_CONTENT = /^backup(\/index\.yaml|\/container(\/backup\.yaml)?|\/snapshots(\/[^/]+(\/backup\.yaml)?)?)?\/?$/;

/** The server gives this folder the permissions 711 when it receives a volume. */
const DATA_ROOT = 'backup/volume';

/**
 * The hash of the files of a backup in their order, which is that of their names: names, kinds, owners, permissions,
 * times, attributes, links and bytes.
 */
export async function fingerprintOf(backup: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const entry of readTar(backup)) {
    const { type, link, mode, uid, gid, mtime, sizeBytes, attributes } = entry;
    const name = entry.name.replace(/\/$/, '');
    if (NOT_CONTENT.test(name)) continue;
    hash.update(JSON.stringify([name, type, link, name === DATA_ROOT ? 0 : mode & 0o7777, uid, gid, mtime, sizeBytes]));
    for (const attribute of attributes) hash.update(`${attribute.length} `).update(attribute);
    for await (const part of entry.content()) hash.update(part);
  }
  return hash.digest('hex');
}
