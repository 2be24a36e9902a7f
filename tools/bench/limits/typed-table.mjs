const SLOT_WORDS = 4;
const CAPACITY = 2 ** 21;

/**
 * The floor for a limiter in JavaScript: a typed open-addressing table of fixed size with an unkeyed 64-bit hash. It
 * never grows, evicts or sweeps, and an attacker can choose keys that collide.
 */
export class TypedTable {
  #slots = new Int32Array(CAPACITY * SLOT_WORDS);
  #limit;
  #windowMs;
  #origin = performance.now();

  constructor({ limit, windowMs }) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** @returns {boolean} whether the event of the key may pass */
  count(key) {
    let low = 0x811c9dc5 | 0;
    let high = 0x9e3779b9 | 0;
    for (let at = 0; at < key.length; at++) {
      const unit = key.charCodeAt(at);
      low = Math.imul(low ^ unit, 0x01000193);
      high = Math.imul(high + unit, 0x85ebca6b) ^ (high >>> 13);
    }
    low |= 1; // 0 marks a free slot
    const now = (performance.now() - this.#origin) | 0;
    const slots = this.#slots;
    for (let slot = (low ^ (low >>> 15)) & (CAPACITY - 1); ; slot = (slot + 1) & (CAPACITY - 1)) {
      const at = slot * SLOT_WORDS;
      if (slots[at] === 0) {
        slots[at] = low;
        slots[at + 1] = high;
      } else if (slots[at] !== low || slots[at + 1] !== high) continue;
      if (slots[at + 2] <= now) {
        slots[at + 2] = now + this.#windowMs;
        slots[at + 3] = 0;
      }
      if (slots[at + 3] >= this.#limit) return false;
      slots[at + 3]++;
      return true;
    }
  }
}
