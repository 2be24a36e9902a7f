import type { HashWords } from './fingerprint.js';
import type { MemoryRate } from './memory-rate.js';
import { KEY_WORDS, MAX_COUNTED, closesAt, counted, setCounted } from './slot.js';
import {
  FRAME_BYTES,
  GCRA,
  HEADER_BYTES,
  MAGIC,
  RECORD_BYTES,
  RATE_MASK,
  SHARED,
  SnapshotError,
  VERSION,
  crc32,
  leftOf,
} from './snapshot-format.js';
import type { WindowTable } from './window-table.js';

/** Where a snapshot is loaded into. */
export interface SnapshotTarget {
  /** Must be empty. */
  readonly table: WindowTable;
  readonly rates: ReadonlyMap<string, MemoryRate>;
  readonly now: number;
  /** Time since the snapshot was taken. */
  readonly elapsedMs: number;
}

/** A fully validated snapshot. */
export interface Snapshot {
  readonly secret: HashWords;
  readonly wallTimeMs: number;
  /** Loads the windows that are still open. Windows of rates that no longer exist are dropped. */
  load(target: SnapshotTarget): void;
}

/** @throws SnapshotError */
export function readSnapshot(bytes: Uint8Array): Snapshot {
  const [head, ...blocks] = readFrames(bytes);
  if (!head || head.byteLength < HEADER_BYTES || head.getUint32(0, true) !== MAGIC) {
    throw new SnapshotError('These bytes are not a snapshot of windows.');
  }
  const version = head.getUint16(4, true);
  if (version !== VERSION) {
    throw new SnapshotError(`The snapshot has version ${version}; only version ${VERSION} is supported.`);
  }
  const names = readNames(head);
  for (const block of blocks) validateRecords(block, names.length);
  return {
    secret: Int32Array.from({ length: 4 }, (_, index) => head.getInt32(16 + index * 4, true)),
    wallTimeMs: head.getFloat64(8, true),
    load: (target) => {
      const rates = names.map((name) => target.rates.get(name));
      for (const block of blocks) loadRecords(block, rates, target);
    },
  };
}

function readFrames(bytes: Uint8Array): DataView[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blocks: DataView[] = [];
  for (let at = 0; ;) {
    if (at + FRAME_BYTES > bytes.length) throw new SnapshotError('The snapshot is truncated.');
    const length = view.getUint32(at, true);
    const content = bytes.subarray(at + FRAME_BYTES, at + FRAME_BYTES + length);
    if (content.length < length) throw new SnapshotError('The snapshot is truncated.');
    if (crc32(content) !== view.getUint32(at + 4, true)) throw new SnapshotError('The snapshot is corrupt.');
    at += FRAME_BYTES + length;
    if (length > 0) blocks.push(new DataView(content.buffer, content.byteOffset, length));
    else if (at === bytes.length) return blocks;
    else throw new SnapshotError('There are bytes after the end of the snapshot.');
  }
}

function readNames(head: DataView): string[] {
  const names: string[] = [];
  let at = HEADER_BYTES;
  for (let left = head.getUint16(6, true); left > 0; left--) {
    const length = at + 2 <= head.byteLength ? head.getUint16(at, true) : Infinity;
    if (at + 2 + length > head.byteLength) throw new SnapshotError('The header of the snapshot is inconsistent.');
    names.push(new TextDecoder().decode(new Uint8Array(head.buffer, head.byteOffset + at + 2, length)));
    at += 2 + length;
  }
  return names;
}

function validateRecords(block: DataView, rateCount: number): void {
  if (block.byteLength % RECORD_BYTES !== 0) throw new SnapshotError('The snapshot contains a partial record.');
  for (let at = 0; at < block.byteLength; at += RECORD_BYTES) {
    const events = block.getInt32(at + 16, true);
    const position = block.getInt32(at + 20, true);
    if (leftOf(block, at) <= 0 || events < 1 || events > MAX_COUNTED || (position & RATE_MASK) >= rateCount) {
      throw new SnapshotError('The snapshot contains an invalid record.');
    }
  }
}

function loadRecords(
  block: DataView,
  rates: readonly (MemoryRate | undefined)[],
  { table, now, elapsedMs }: SnapshotTarget,
): void {
  const key = new Int32Array(KEY_WORDS);
  for (let at = 0; at < block.byteLength; at += RECORD_BYTES) {
    const left = leftOf(block, at);
    const events = block.getInt32(at + 16, true);
    const position = block.getInt32(at + 20, true);
    const rate = rates[position & RATE_MASK];
    const isGcra = (position & GCRA) !== 0;
    if (!rate || rate.isGcra !== isGcra || left <= elapsedMs) continue;
    for (let word = 0; word < KEY_WORDS; word++) key[word] = block.getInt32(at + word * 4, true);
    let slot = table.find(rate.index, key, now);
    const isNew = slot === -1;
    if (isNew) slot = position & SHARED ? table.openShared(rate.index, key) : table.open(rate.index, key, now);
    const closes = now + Math.min(Math.floor(left - elapsedMs), rate.windowMs);
    if (isGcra) {
      if (!isNew && closesAt(table.slots, slot) >= closes) continue;
      setCounted(table.slots, slot, events - 1);
    } else {
      setCounted(table.slots, slot, Math.max(counted(table.slots, slot), events));
    }
    table.setClosing(slot, closes);
  }
}
