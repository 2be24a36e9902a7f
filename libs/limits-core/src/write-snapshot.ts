import type { HashWords } from './fingerprint.js';
import type { MemoryRate } from './memory-rate.js';
import { BUCKETS_PER_RATE } from './overflow-buckets.js';
import { MAX_COUNTED, SLOT_WORDS, TAG, closesAt, rateIndex, used } from './slot.js';
import { FRAME_BYTES, HEADER_BYTES, MAGIC, SHARED, VERSION, crc32 } from './snapshot-format.js';
import type { WindowTable } from './window-table.js';

export interface SnapshotSource {
  readonly table: WindowTable;
  readonly secret: HashWords;
  readonly rates: readonly MemoryRate[];
  readonly wallTimeMs: number;
  readonly now: () => number;
}

/** Yields the blocks of a snapshot, each built on demand. */
export function* writeSnapshot(source: SnapshotSource): Generator<Uint8Array> {
  const { table, now } = source;
  const startedAt = now();
  yield frame(buildHeader(source));
  for (const page of table.pages()) {
    const records = buildRecords(page, page === table.overflow.slots, now(), startedAt);
    if (records.length > 0) yield frame(records);
  }
  yield frame(new Uint8Array(0));
}

function buildHeader({ secret, rates, wallTimeMs }: SnapshotSource): Uint8Array {
  const names = rates.map(({ name }) => new TextEncoder().encode(name));
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + names.reduce((sum, name) => sum + 2 + name.length, 0)));
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, VERSION, true);
  view.setUint16(6, names.length, true);
  view.setFloat64(8, wallTimeMs, true);
  secret.forEach((word, index) => view.setInt32(16 + index * 4, word, true));
  let at = HEADER_BYTES;
  for (const name of names) {
    view.setUint16(at, name.length, true);
    new Uint8Array(view.buffer).set(name, at + 2);
    at += 2 + name.length;
  }
  return new Uint8Array(view.buffer);
}

function buildRecords(slots: Int32Array, shared: boolean, now: number, startedAt: number): Uint8Array {
  const words: number[] = [];
  for (let at = 0; at < slots.length; at += SLOT_WORDS) {
    const left = closesAt(slots, at) - now;
    if (slots[at + TAG] === 0 || left <= 0) continue;
    if (shared) words.push(0, 0, (at / SLOT_WORDS) % BUCKETS_PER_RATE);
    else words.push(slots[at]!, slots[at + 1]!, slots[at + 2]!);
    const events = Math.min(used(slots, at), MAX_COUNTED);
    words.push(left + now - startedAt, events, rateIndex(slots[at + TAG]!) | (shared ? SHARED : 0));
  }
  const view = new DataView(new ArrayBuffer(words.length * 4));
  words.forEach((word, index) => view.setInt32(index * 4, word, true));
  return new Uint8Array(view.buffer);
}

function frame(content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(FRAME_BYTES + content.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content.length, true);
  view.setUint32(4, crc32(content), true);
  bytes.set(content, FRAME_BYTES);
  return bytes;
}
