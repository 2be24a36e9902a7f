import type { HashWords } from './fingerprint.js';
import type { MemoryRate } from './memory-rate.js';
import { BUCKETS_PER_RATE } from './overflow-buckets.js';
import { MAX_COUNTED, SLOT_WORDS, TAG, closesAt, counted, rateIndex, used } from './slot.js';
import { FRAME_BYTES, GCRA, HEADER_BYTES, LEFT_SHIFT, MAGIC, SHARED, VERSION, crc32 } from './snapshot-format.js';
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
    const records = buildRecords({ slots: page, table, now: now(), startedAt });
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

interface PageSource {
  readonly slots: Int32Array;
  readonly table: WindowTable;
  readonly now: number;
  readonly startedAt: number;
}

function buildRecords({ slots, table, now, startedAt }: PageSource): Uint8Array {
  const shared = slots === table.overflow.slots;
  const words: number[] = [];
  for (let at = 0; at < slots.length; at += SLOT_WORDS) {
    const left = closesAt(slots, at) - now;
    if (slots[at + TAG] === 0 || left <= 0) continue;
    if (shared) words.push(0, 0, (at / SLOT_WORDS) % BUCKETS_PER_RATE);
    else words.push(slots[at]!, slots[at + 1]!, slots[at + 2]!);
    const rate = rateIndex(slots[at + TAG]!);
    const isGcra = table.gcraWindows[rate]! > 0;
    // A slot from before its rate changed its algorithm is written too, but no key finds it again.
    const events = Math.max(1, Math.min(isGcra ? counted(slots, at) + 1 : used(slots, at), MAX_COUNTED));
    const leftAtStart = left + now - startedAt;
    const flags = (shared ? SHARED : 0) | (isGcra ? GCRA : 0);
    words.push(leftAtStart | 0, events, rate | flags | (Math.floor(leftAtStart / 2 ** 32) << LEFT_SHIFT));
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
