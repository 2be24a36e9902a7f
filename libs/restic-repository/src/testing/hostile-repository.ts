import { Cipher } from '../crypto/cipher.js';
import { type BlobEntry, type BlobType, sha256 } from '../format/blobs.js';
import { openKey } from '../format/key-file.js';
import { sealHeader } from '../format/pack-header.js';
import { compress } from '../format/zstd.js';
import { SealedFiles } from '../store/sealed-files.js';
import type { MemoryTarget } from './memory-target.js';
import { PASSWORD } from './sample-repository.js';

export interface HostileBlob {
  readonly type: BlobType;
  readonly plain: Buffer;
  /** Instead of its hash. */
  readonly id?: string;
  /** Instead of its length. */
  readonly claimedLength?: number;
}

/** Writes anything, with the right key, as an attacker who knows the password can. */
export class HostileRepository {
  private constructor(
    private readonly target: MemoryTarget,
    readonly cipher: Cipher,
  ) {}

  static async of(target: MemoryTarget): Promise<HostileRepository> {
    const [key = ''] = target.names('keys');
    const bytes = target.contents.get(key) ?? Buffer.of();
    return new HostileRepository(target, new Cipher(await openKey(bytes, PASSWORD, key)));
  }

  get files(): SealedFiles {
    return new SealedFiles(this.target, this.cipher);
  }

  /** Writes a pack of one blob and its index. Returns the ID of the blob. */
  async blob({ type, plain, id = sha256(plain), claimedLength = plain.length }: HostileBlob): Promise<string> {
    const sealed = this.cipher.seal(await compress(plain, 1));
    const entry: BlobEntry = { id, type, offset: 0, length: sealed.length, uncompressedLength: claimedLength };
    const pack = Buffer.concat([sealed, sealHeader([entry], this.cipher)]);
    await this.target.write('data', sha256(pack), pack);
    await this.index(sha256(pack), { ...entry });
    return id;
  }

  /** Writes an index with one blob, whatever its fields are. */
  async index(pack: string, { uncompressedLength, ...blob }: Record<string, unknown>): Promise<void> {
    const blobs = [{ ...blob, uncompressed_length: uncompressedLength }];
    await this.files.save('index', { packs: [{ id: pack, blobs }] });
  }

  /** Writes a tree with nodes of any form. */
  tree(nodes: readonly Record<string, unknown>[], id?: string): Promise<string> {
    const plain = Buffer.from(JSON.stringify({ nodes }));
    return this.blob(id === undefined ? { type: 'tree', plain } : { type: 'tree', plain, id });
  }

  snapshot(tree: string): Promise<string> {
    const time = '2026-01-01T00:00:00Z';
    return this.files.save('snapshots', { time, tree, paths: ['/x'], hostname: 'evil', username: 'evil' });
  }

  /** Replaces the config. */
  config(fields: Record<string, unknown>): void {
    this.target.contents.set('config/config', this.cipher.seal(Buffer.from(JSON.stringify(fields))));
  }
}
