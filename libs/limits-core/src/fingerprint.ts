/** Four 32-bit words: the secret seed of the hash, or its result. */
export type HashWords = Int32Array;

const FINAL_ROUNDS = 3;

/**
 * Keyed hash of a string: HalfSipHash-1-3 seeded with 128 secret bits, whose whole 128-bit state is the result. Folding
 * the state would only add collisions, and since results are never exposed, none of it needs hiding. The table stores
 * 96 bits of it: the probability that two of n keys collide is about n²/2^97.
 */
export function fingerprint(text: string, seed: HashWords, into: HashWords): void {
  if (!hashNarrow(text, seed, into)) hashWide(text, seed, into);
}

/** Packs four code units into a word. Returns false if one needs more than eight bits. */
function hashNarrow(text: string, seed: HashWords, into: HashWords): boolean {
  const length = text.length;
  const words = length >>> 2;
  let v0 = seed[0]!;
  let v1 = seed[1]!;
  let v2 = seed[2]!;
  let v3 = seed[3]!;
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
    // One round of HalfSipHash, inlined: a function could not return four numbers without allocating.
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

/** Hashes both bytes of each code unit, with another seed, so that no wide text equals a narrow one. */
function hashWide(text: string, seed: HashWords, into: HashWords): void {
  let bytes = '';
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    bytes += String.fromCharCode(unit & 0xff, unit >>> 8);
  }
  hashNarrow(bytes, Int32Array.of(seed[0]!, seed[1]! ^ 0xee, seed[2]!, seed[3]!), into);
}

/** @throws Error if the platform has no source of randomness. */
export function randomSeed(): HashWords {
  return crypto.getRandomValues(new Int32Array(4));
}
