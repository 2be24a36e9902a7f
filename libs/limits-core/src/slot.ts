/**
 * The memory layout of one key: six 32-bit words.
 *
 * - 0 to 2: the key's fingerprint.
 * - 3: when the window closes, in milliseconds since the table was created: the low 32 bits.
 * - 4: from the top: events in flight (12 bits), events that count (20 bits); in a gcra slot, see gcra.ts, a fraction
 *   instead.
 * - 5: from the top: the window's generation (16 bits), the high 8 bits of the closing time, the rate's index + 1
 *   (8 bits); 0: the slot is free.
 */
export const SLOT_WORDS = 6;
export const SLOT_BYTES = SLOT_WORDS * 4;
export const KEY_WORDS = 3;

const CLOSES = 3;
const EVENTS = 4;
export const TAG = 5;

const COUNTED_BITS = 20;
const ONE_IN_FLIGHT = 1 << COUNTED_BITS;
export const MAX_COUNTED = ONE_IN_FLIGHT - 1;
/** Simultaneous reservations of one key. The next one is refused, whatever the limit. */
export const MAX_IN_FLIGHT = 2 ** (32 - COUNTED_BITS) - 1;

/** Rates that one table can hold. */
export const MAX_RATES = 255;
export const GENERATIONS = 2 ** 16;

export const rateIndex = (tag: number): number => (tag & 0xff) - 1;
export const generationOf = (tag: number): number => tag >>> 16;
export const tagOf = (rate: number, generation: number): number => (generation << 16) | (rate + 1);

/** When the slot's window closes; 40 bits of milliseconds last for 34 years. */
export const closesAt = (slots: Int32Array, at: number): number =>
  ((slots[at + TAG]! >>> 8) & 0xff) * 2 ** 32 + (slots[at + CLOSES]! >>> 0);

export function setClosesAt(slots: Int32Array, at: number, time: number): void {
  slots[at + CLOSES] = time;
  slots[at + TAG] = (slots[at + TAG]! & ~0xff00) | (Math.floor(time / 2 ** 32) << 8);
}

export const counted = (slots: Int32Array, at: number): number => slots[at + EVENTS]! & MAX_COUNTED;
export const inFlight = (slots: Int32Array, at: number): number => slots[at + EVENTS]! >>> COUNTED_BITS;
export const used = (slots: Int32Array, at: number): number => counted(slots, at) + inFlight(slots, at);

export function addCounted(slots: Int32Array, at: number, events = 1): void {
  slots[at + EVENTS]! += events;
}

export function setCounted(slots: Int32Array, at: number, events: number): void {
  slots[at + EVENTS] = (slots[at + EVENTS]! & ~MAX_COUNTED) | events;
}

export function addInFlight(slots: Int32Array, at: number, number: 1 | -1): void {
  slots[at + EVENTS]! += number * ONE_IN_FLIGHT;
}

/** Resets the counts to those of a window without events. */
export function clearEvents(slots: Int32Array, at: number): void {
  slots[at + EVENTS] = 0;
}

/** Copies one slot. Unrolled, because this is most of the work of a growing table. */
export function copySlot(from: Int32Array, at: number, to: Int32Array, toAt: number): void {
  to[toAt] = from[at]!;
  to[toAt + 1] = from[at + 1]!;
  to[toAt + 2] = from[at + 2]!;
  to[toAt + CLOSES] = from[at + CLOSES]!;
  to[toAt + EVENTS] = from[at + EVENTS]!;
  to[toAt + TAG] = from[at + TAG]!;
}
