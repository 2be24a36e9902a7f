import { crc32 } from './crc32.js';
import type { Words } from './fingerprint.js';
import type { LocalRate } from './local-rate.js';
import { KEY_WORDS, MOST_COUNTED, counted, setCounted } from './slot.js';
import { SnapshotError } from './snapshot-error.js';
import { FRAME_BYTES, HEADER_BYTES, MAGIC, RECORD_BYTES, SHARED, VERSION } from './snapshot-format.js';
import type { WindowTable } from './window-table.js';

/** A snapshot whose every byte has been checked. */
export interface Snapshot {
  readonly secret: Words;
  readonly wallTimeMs: number;
  /** Puts the windows still open after `passedMs` into an empty table; those of rates that are no more are left out. */
  load(table: WindowTable, rates: ReadonlyMap<string, LocalRate>, now: number, passedMs: number): void;
}

/** @throws SnapshotError */
export function readSnapshot(bytes: Uint8Array): Snapshot {
  const [head, ...blocks] = readFrames(bytes);
  if (!head || head.byteLength < HEADER_BYTES || head.getUint32(0, true) !== MAGIC) {
    throw new SnapshotError('These bytes are no snapshot of windows.');
  }
  const version = head.getUint16(4, true);
  if (version !== VERSION) throw new SnapshotError(`The snapshot has version ${version}; this reads ${VERSION}.`);
  const names = readNames(head);
  for (const block of blocks) checkRecords(block, names.length);
  return {
    secret: Int32Array.from({ length: 4 }, (_, index) => head.getInt32(16 + index * 4, true)),
    wallTimeMs: head.getFloat64(8, true),
    load: (table, rates, now, passedMs) => {
      const known = names.map((name) => rates.get(name));
      for (const block of blocks) loadRecords(block, known, table, now, passedMs);
    },
  };
}

function readFrames(bytes: Uint8Array): DataView[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blocks: DataView[] = [];
  for (let at = 0; ;) {
    if (at + FRAME_BYTES > bytes.length) throw new SnapshotError('The snapshot is cut short.');
    const length = view.getUint32(at, true);
    const content = bytes.subarray(at + FRAME_BYTES, at + FRAME_BYTES + length);
    if (content.length < length) throw new SnapshotError('The snapshot is cut short.');
    if (crc32(content) !== view.getUint32(at + 4, true)) throw new SnapshotError('The snapshot is damaged.');
    at += FRAME_BYTES + length;
    if (length > 0) blocks.push(new DataView(content.buffer, content.byteOffset, length));
    else if (at === bytes.length) return blocks;
    else throw new SnapshotError('Something follows the end of the snapshot.');
  }
}

function readNames(head: DataView): string[] {
  const names: string[] = [];
  let at = HEADER_BYTES;
  for (let left = head.getUint16(6, true); left > 0; left--) {
    const length = at + 2 <= head.byteLength ? head.getUint16(at, true) : Infinity;
    if (at + 2 + length > head.byteLength) throw new SnapshotError('The header of the snapshot does not add up.');
    names.push(new TextDecoder().decode(new Uint8Array(head.buffer, head.byteOffset + at + 2, length)));
    at += 2 + length;
  }
  return names;
}

function checkRecords(block: DataView, rateCount: number): void {
  if (block.byteLength % RECORD_BYTES !== 0) throw new SnapshotError('The snapshot holds part of a record.');
  for (let at = 0; at < block.byteLength; at += RECORD_BYTES) {
    const [left, events, rate] = [12, 16, 20].map((word) => block.getInt32(at + word, true));
    if (left! <= 0 || events! < 1 || events! > MOST_COUNTED || (rate! & ~SHARED) >= rateCount) {
      throw new SnapshotError('The snapshot holds a record that makes no sense.');
    }
  }
}

function loadRecords(
  block: DataView,
  rates: readonly (LocalRate | undefined)[],
  table: WindowTable,
  now: number,
  passedMs: number,
): void {
  const key = new Int32Array(KEY_WORDS);
  for (let at = 0; at < block.byteLength; at += RECORD_BYTES) {
    const [left, events, place] = [12, 16, 20].map((word) => block.getInt32(at + word, true));
    const rate = rates[place! & ~SHARED];
    if (!rate || left! <= passedMs) continue;
    for (let word = 0; word < KEY_WORDS; word++) key[word] = block.getInt32(at + word * 4, true);
    let slot = table.find(rate.index, key, now);
    if (slot === -1) slot = place! & SHARED ? table.openShared(rate.index, key) : table.open(rate.index, key, now);
    setCounted(table.slots, slot, Math.max(counted(table.slots, slot), events!));
    table.setClosing(slot, now + Math.min(Math.floor(left! - passedMs), rate.windowMs));
  }
}
