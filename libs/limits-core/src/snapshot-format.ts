/*
 * A snapshot, little-endian. Each block consists of the length of its content, the CRC-32 of its content, and the
 * content. The first block is the header: magic number, version, number of rates, wall time (f64), the hash's secret (4
 * words), then the names of the rates (length, UTF-8). Each further block holds records of six words: fingerprint (3),
 * milliseconds left at that wall time (the low 32 bits), events, and the rate's position in the header (8 bits) with
 * two flags and the high bits of the milliseconds. A gcra record has the rounded part of its time plus 1 in place of
 * events. An empty block marks the end.
 */
export const MAGIC = 0x57524748;
export const VERSION = 1;

export const FRAME_BYTES = 8;
/** Size of the header up to the first name. */
export const HEADER_BYTES = 32;

export const RECORD_WORDS = 6;
export const RECORD_BYTES = RECORD_WORDS * 4;

/** Set next to the rate in the record of a shared bucket, whose number is the third word. */
export const SHARED = 0x100;
/** Set next to the rate in the record of a gcra rate. */
export const GCRA = 0x200;
export const RATE_MASK = 0xff;
export const LEFT_SHIFT = 16;

/** The milliseconds left of the record at an offset. */
export const leftOf = (block: DataView, at: number): number =>
  (block.getInt32(at + 20, true) >>> LEFT_SHIFT) * 2 ** 32 + block.getUint32(at + 12, true);

/** The bytes are not a snapshot, not a complete one, or one of another version. */
export class SnapshotError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SnapshotError';
  }
}

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

/** The CRC-32 of ISO-HDLC (zip, gzip, PNG), as an unsigned number. */
export function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
