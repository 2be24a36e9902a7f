/*
 * A snapshot, little-endian. Each block consists of the length of its content, the CRC-32 of its content, and the content. The
 * first block is the header: magic number, version, number of rates, wall time (f64), the hash's secret (4 words), then the
 * names of the rates (length, UTF-8). Each further block holds records of six words: fingerprint (3), milliseconds left at
 * that wall time, events, and the rate's position in the header. An empty block marks the end.
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
