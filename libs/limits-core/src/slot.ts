/**
 * How one key lies in memory: eight 32-bit words, half a cache line.
 *
 * | word | what |
 * |---|---|
 * | 0–3 | the key's fingerprint |
 * | 4 | when the window closes, in milliseconds since the table was made: the low 32 bits |
 * | 5 | events that count |
 * | 6 | events in flight |
 * | 7 | from the top: which opening of a window this is (16 bits), the high 8 bits of the time, the rate's index + 1 (8 bits); 0: the slot is free |
 */
export const SLOT_WORDS = 8;
export const SLOT_BYTES = SLOT_WORDS * 4;

const CLOSES = 4;
export const COUNTED = 5;
export const IN_FLIGHT = 6;
export const TAG = 7;

/** Rates that one table can tell apart. */
export const MOST_RATES = 255;
export const OPENINGS = 2 ** 16;

export const rateIndex = (tag: number): number => (tag & 0xff) - 1;
export const opening = (tag: number): number => tag >>> 16;
export const tagOf = (rate: number, openingNumber: number): number => (openingNumber << 16) | (rate + 1);

/** When the slot's window closes; 40 bits of milliseconds last for 34 years. */
export const closesAt = (slots: Int32Array, at: number): number =>
  ((slots[at + TAG]! >>> 8) & 0xff) * 2 ** 32 + (slots[at + CLOSES]! >>> 0);

export function setClosesAt(slots: Int32Array, at: number, time: number): void {
  slots[at + CLOSES] = time;
  slots[at + TAG] = (slots[at + TAG]! & ~0xff00) | (Math.floor(time / 2 ** 32) << 8);
}

export const used = (slots: Int32Array, at: number): number => slots[at + COUNTED]! + slots[at + IN_FLIGHT]!;
