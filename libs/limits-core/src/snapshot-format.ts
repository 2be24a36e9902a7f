/*
 * A snapshot, little endian. Blocks of: length of the content, CRC-32 of the content, content. The first is the header:
 * magic, version, number of rates, wall time (f64), the hash's secret (4 words), then the rates' names (length, UTF-8).
 * Each further one holds records of six words: fingerprint (3), milliseconds left at that wall time, events, and the
 * rate's place in the header. An empty block ends it.
 */
export const MAGIC = 0x57524748;
export const VERSION = 1;

export const FRAME_BYTES = 8;
/** Up to the first name. */
export const HEADER_BYTES = 32;

export const RECORD_WORDS = 6;
export const RECORD_BYTES = RECORD_WORDS * 4;

/** Set beside the rate in a record of a shared bucket, whose number stands as the third word. */
export const SHARED = 0x100;
