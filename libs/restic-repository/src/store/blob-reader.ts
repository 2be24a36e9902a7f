import { type BlobType, sha256 } from '../format/blobs.js';
import { decompress } from '../format/zstd.js';
import { DamagedError, FileNotFoundError, MissingBlobError } from '../model/errors.js';
import { type BlobLocation, plainLength } from './blob-index.js';
import type { IndexCache } from './index-cache.js';
import type { SealedFiles } from './sealed-files.js';

/** Decrypts, expands and verifies a blob. @throws DamagedError */
export async function openBlob(
  files: SealedFiles,
  sealed: Uint8Array,
  entry: Omit<BlobLocation, 'pack'>,
): Promise<Buffer> {
  const subject = `blob ${entry.id}`;
  const opened = files.cipher.open(sealed, subject);
  const expected = plainLength(entry);
  const plain = entry.uncompressedLength === undefined ? opened : await decompress(opened, expected, subject);
  if (plain.length !== expected || sha256(plain) !== entry.id) {
    throw new DamagedError(`${subject} is damaged: its content does not match its ID.`, subject);
  }
  return plain;
}

/** The bytes of a blob in its pack, still encrypted. @throws DamagedError, FileNotFoundError */
export async function readSealed(files: SealedFiles, { pack, offset, length, id }: BlobLocation): Promise<Uint8Array> {
  const sealed = await files.target.read('data', pack, offset, length);
  if (sealed.length === length) return sealed;
  throw new DamagedError(`blob ${id} is damaged: data/${pack} is cut short.`, `blob ${id}`);
}

/** Reads blobs from their packs. */
export class BlobReader {
  constructor(
    private readonly files: SealedFiles,
    private readonly index: IndexCache,
  ) {}

  /**
   * A decrypted and verified blob, from the first copy that is intact. If there is none, the index is read again,
   * because another process may have moved the blob to another pack.
   * @throws DamagedError, MissingBlobError
   */
  async read(type: BlobType, id: string): Promise<Buffer> {
    const { blobs } = await this.index.current();
    try {
      return await this.readCopy(blobs.find(type, id), id);
    } catch (error) {
      if (!(error instanceof MissingBlobError)) throw error;
      return this.readCopy((await this.index.refresh()).blobs.find(type, id), id);
    }
  }

  private async readCopy(copies: readonly BlobLocation[], id: string): Promise<Buffer> {
    let failure: unknown = new MissingBlobError(`blob ${id} is missing: no index lists it.`, `blob ${id}`);
    for (const location of copies) {
      try {
        return await openBlob(this.files, await readSealed(this.files, location), location);
      } catch (error) {
        failure = asDamage(error, location);
        if (!(failure instanceof DamagedError)) throw error;
      }
    }
    throw failure;
  }
}

function asDamage(error: unknown, { id, pack }: BlobLocation): unknown {
  if (!(error instanceof FileNotFoundError)) return error;
  return new MissingBlobError(`blob ${id} is missing: data/${pack} does not exist.`, `blob ${id}`);
}
