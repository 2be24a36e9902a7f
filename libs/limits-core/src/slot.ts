/**
 * How one key lies in memory: eight 32-bit words, half a cache line.
 *
 * | word | what |
 * |---|---|
 * | 0–3 | the key's fingerprint |
 * | 4 | when the window closes: milliseconds since the table's start, modulo 2^32 |
 * | 5 | events that count |
 * | 6 | events in flight |
 * | 7 | which opening of a window this is (24 bits), and the rate's index + 1 (8 bits); 0: the slot is free |
 */
export const SLOT_WORDS = 8;
export const SLOT_BYTES = SLOT_WORDS * 4;

export const CLOSES = 4;
export const COUNTED = 5;
export const IN_FLIGHT = 6;
export const TAG = 7;

/** Rates that one table can tell apart. */
export const MOST_RATES = 255;

export const rateIndex = (tag: number): number => (tag & 0xff) - 1;
export const opening = (tag: number): number => tag >>> 8;
export const tagOf = (rate: number, openingNumber: number): number => (openingNumber << 8) | (rate + 1);

/** Milliseconds until the slot's window closes; 0 or less: it is closed. Right as long as |answer| < 2^31. */
export const closesIn = (slots: Int32Array, at: number, now: number): number => (slots[at + CLOSES]! - now) | 0;

export const used = (slots: Int32Array, at: number): number => slots[at + COUNTED]! + slots[at + IN_FLIGHT]!;
