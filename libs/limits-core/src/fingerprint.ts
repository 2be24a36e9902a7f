/** Four 32-bit words: the secret start of the hash, or what comes out of it. */
export type Words = Int32Array;

const FINAL_ROUNDS = 3;

/**
 * The keyed hash of a string: HalfSipHash-1-3 started from 128 secret bits, with its whole 128-bit state as the answer.
 * Folding the state would only add collisions, and nobody sees the answers, so none of it needs hiding. What is
 * kept of it, 96 bits, tells n strings apart but for a chance of about n²/2^97.
 */
export function fingerprint(text: string, start: Words, into: Words): void {
  if (!hashNarrow(text, start, into)) hashWide(text, start, into);
}

/** Four code units to a word. False when one needs more than eight bits. */
function hashNarrow(text: string, start: Words, into: Words): boolean {
  const length = text.length;
  const words = length >>> 2;
  let v0 = start[0]!;
  let v1 = start[1]!;
  let v2 = start[2]!;
  let v3 = start[3]!;
  let seen = 0;
  let at = 0;
  for (let step = 0; step <= words + FINAL_ROUNDS; step++) {
    let word = 0;
    if (step < words) {
      const a = text.charCodeAt(at);
      const b = text.charCodeAt(at + 1);
      const c = text.charCodeAt(at + 2);
      const d = text.charCodeAt(at + 3);
      at += 4;
      seen |= a | b | c | d;
      word = a | (b << 8) | (c << 16) | (d << 24);
    } else if (step === words) {
      word = length << 24;
      for (let shift = 0; at < length; shift += 8) {
        const unit = text.charCodeAt(at++);
        seen |= unit;
        word ^= unit << shift;
      }
      if (seen > 0xff) return false;
    } else if (step === words + 1) {
      v2 ^= 0xff;
    }
    v3 ^= word;
    // The round of HalfSipHash; written out, because a function cannot give four numbers back without an allocation.
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  into[0] = v0;
  into[1] = v1;
  into[2] = v2;
  into[3] = v3;
  return true;
}

/** The same over each code unit's two bytes, from another start, so that no wide text equals a narrow one. */
function hashWide(text: string, start: Words, into: Words): void {
  let bytes = '';
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    bytes += String.fromCharCode(unit & 0xff, unit >>> 8);
  }
  hashNarrow(bytes, Int32Array.of(start[0]!, start[1]! ^ 0xee, start[2]!, start[3]!), into);
}

/** @throws when the platform has no source of randomness. */
export function randomStart(): Words {
  return crypto.getRandomValues(new Int32Array(4));
}
