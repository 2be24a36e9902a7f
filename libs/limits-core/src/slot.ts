/**
 * How one key lies in memory: six 32-bit words.
 *
 * | word | what |
 * |---|---|
 * | 0–2 | the key's fingerprint |
 * | 3 | when the window closes, in milliseconds since the table was made: the low 32 bits |
 * | 4 | from the top: events in flight (12 bits), events that count (20 bits) |
 * | 5 | from the top: which opening of a window this is (16 bits), the high 8 bits of the time, the rate's index + 1 (8 bits); 0: the slot is free |
 */
export const SLOT_WORDS = 6;
export const SLOT_BYTES = SLOT_WORDS * 4;
export const KEY_WORDS = 3;

const CLOSES = 3;
const EVENTS = 4;
export const TAG = 5;

const COUNTED_BITS = 20;
const ONE_IN_FLIGHT = 1 << COUNTED_BITS;
export const MOST_COUNTED = ONE_IN_FLIGHT - 1;
/** Reservations of one key at one time; whatever its limit, the next one is refused. */
export const MOST_IN_FLIGHT = 2 ** (32 - COUNTED_BITS) - 1;

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

export const counted = (slots: Int32Array, at: number): number => slots[at + EVENTS]! & MOST_COUNTED;
export const inFlight = (slots: Int32Array, at: number): number => slots[at + EVENTS]! >>> COUNTED_BITS;
export const used = (slots: Int32Array, at: number): number => counted(slots, at) + inFlight(slots, at);

export function addCounted(slots: Int32Array, at: number): void {
  slots[at + EVENTS]! += 1;
}

export function setCounted(slots: Int32Array, at: number, events: number): void {
  slots[at + EVENTS] = (slots[at + EVENTS]! & ~MOST_COUNTED) | events;
}

export function addInFlight(slots: Int32Array, at: number, number: 1 | -1): void {
  slots[at + EVENTS]! += number * ONE_IN_FLIGHT;
}

/** As it is for a window in which nothing has happened. */
export function clearEvents(slots: Int32Array, at: number): void {
  slots[at + EVENTS] = 0;
}

/** Copies one slot; written out, because it is most of the work of a table that grows. */
export function copySlot(from: Int32Array, at: number, to: Int32Array, place: number): void {
  to[place] = from[at]!;
  to[place + 1] = from[at + 1]!;
  to[place + 2] = from[at + 2]!;
  to[place + CLOSES] = from[at + CLOSES]!;
  to[place + EVENTS] = from[at + EVENTS]!;
  to[place + TAG] = from[at + TAG]!;
}
