import { SEAL_BYTES } from '../crypto/cipher.js';
import type { BlobEntry, BlobType } from '../format/blobs.js';
import type { PackEntries } from '../format/index-file.js';

/** A copy of a blob. */
export interface BlobLocation extends BlobEntry {
  readonly pack: string;
}

const NONE = -1;
const FIRST_CAPACITY = 1024;
const COLUMNS = 5;
const [PACK, OFFSET, LENGTH, PLAIN, NEXT] = [0, 1, 2, 3, 4];

const keyOf = (id: string): string => Buffer.from(id, 'hex').toString('latin1');

/** Where every blob is. A million blobs, which are a terabyte, take about 150 MB of memory. */
export class BlobIndex {
  private readonly packIds: string[] = [];
  private readonly packNumbers = new Map<string, number>();
  private readonly slots = { data: new Map<string, number>(), tree: new Map<string, number>() };
  private rows = new Float64Array(FIRST_CAPACITY * COLUMNS);
  private used = 0;

  get packs(): readonly string[] {
    return this.packIds;
  }

  /** Blobs, each counted once. */
  get blobs(): number {
    return this.slots.data.size + this.slots.tree.size;
  }

  hasPack(pack: string): boolean {
    return this.packNumbers.has(pack);
  }

  /** Adds a pack, unless it is there already. */
  add({ id, blobs }: PackEntries): void {
    if (this.packNumbers.has(id)) return;
    const pack = this.packIds.push(id) - 1;
    this.packNumbers.set(id, pack);
    for (const blob of blobs) this.addBlob(pack, blob);
  }

  has(type: BlobType, id: string): boolean {
    return this.slots[type].has(keyOf(id));
  }

  /** All copies of a blob. */
  find(type: BlobType, id: string): BlobLocation[] {
    const found: BlobLocation[] = [];
    for (let slot = this.slots[type].get(keyOf(id)) ?? NONE; slot !== NONE; slot = this.cell(slot, NEXT)) {
      found.push(this.locationOf(slot, type, id));
    }
    return found;
  }

  /** All copies of all blobs. */
  *all(): Iterable<BlobLocation> {
    for (const type of ['data', 'tree'] satisfies BlobType[]) {
      for (const key of this.slots[type].keys()) yield* this.find(type, Buffer.from(key, 'latin1').toString('hex'));
    }
  }

  /** Bytes of a blob when it is decrypted and expanded; undefined for an unknown blob. */
  plainLengthOf(type: BlobType, id: string): number | undefined {
    const [first] = this.find(type, id);
    return first && plainLength(first);
  }

  private addBlob(pack: number, { id, type, offset, length, uncompressedLength }: BlobEntry): void {
    const slot = this.used++;
    if (this.used * COLUMNS > this.rows.length) {
      const grown = new Float64Array(this.rows.length * 2);
      grown.set(this.rows);
      this.rows = grown;
    }
    const key = keyOf(id);
    const next = this.slots[type].get(key) ?? NONE;
    this.rows.set([pack, offset, length, uncompressedLength ?? NONE, next], slot * COLUMNS);
    this.slots[type].set(key, slot);
  }

  private locationOf(slot: number, type: BlobType, id: string): BlobLocation {
    const plain = this.cell(slot, PLAIN);
    return {
      id,
      type,
      pack: this.packIds[this.cell(slot, PACK)] ?? '',
      offset: this.cell(slot, OFFSET),
      length: this.cell(slot, LENGTH),
      uncompressedLength: plain === NONE ? undefined : plain,
    };
  }

  private cell(slot: number, column: number | undefined): number {
    return this.rows[slot * COLUMNS + (column ?? 0)] ?? NONE;
  }
}

export const plainLength = ({ length, uncompressedLength }: BlobEntry): number =>
  uncompressedLength ?? length - SEAL_BYTES;
