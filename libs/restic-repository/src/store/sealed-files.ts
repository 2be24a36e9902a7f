import type { Cipher } from '../crypto/cipher.js';
import { sha256 } from '../format/blobs.js';
import { decodeUnpacked, encodeUnpacked } from '../format/unpacked.js';
import { DamagedError } from '../model/errors.js';
import type { FileType, RepositoryTarget } from '../target/repository-target.js';

/** Index, snapshot and lock files: JSON that is compressed, encrypted, and named by its hash. */
export class SealedFiles {
  constructor(
    readonly target: RepositoryTarget,
    readonly cipher: Cipher,
  ) {}

  /** @returns the name of the file */
  async save(type: FileType, value: unknown): Promise<string> {
    const sealed = this.cipher.seal(await encodeUnpacked(value));
    const name = sha256(sealed);
    await this.target.write(type, name, sealed);
    return name;
  }

  /** @throws DamagedError, FileNotFoundError */
  async load(type: FileType, name: string): Promise<unknown> {
    const subject = `${type}/${name}`;
    const sealed = await this.target.read(type, name);
    if (sha256(sealed) !== name) {
      throw new DamagedError(`${subject} is damaged: its content does not match its name.`, subject);
    }
    return decodeUnpacked(this.cipher.open(sealed, subject), subject);
  }
}
