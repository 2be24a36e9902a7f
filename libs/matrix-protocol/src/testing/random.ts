/** A seeded generator of values (mulberry32), so that a failing case can be reproduced. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** A text of 0 to `longest` code points of the alphabet. */
  text(alphabet: string, longest: number): string {
    const characters = [...alphabet];
    return this.times(longest, () => this.pick(characters)).join('');
  }

  /** 0 to `most` values. */
  times<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }

  shuffle<T>(values: readonly T[]): T[] {
    const mixed = [...values];
    for (let i = mixed.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [mixed[i], mixed[j]] = [mixed[j]!, mixed[i]!];
    }
    return mixed;
  }

  /** A JSON value that has a canonical form. */
  json(depth = 4): unknown {
    const kind = this.below(depth > 0 ? 7 : 5);
    if (kind < 2) return this.text(ODD_CHARACTERS, 6);
    if (kind === 2) return this.below(2 ** 32) * (2 ** 20 - 1) * this.pick([1, -1]) + 0;
    if (kind === 3) return this.pick([true, false, null, 0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);
    if (kind === 4) return this.pick(['', '2', '10', '__proto__', 'constructor']);
    if (kind === 5) return this.times(4, () => this.json(depth - 1));
    return objectOf(this.times(6, () => [this.text(ODD_CHARACTERS, 3), this.json(depth - 1)]));
  }
}

/** Characters whose escapes or sort order differ between implementations. */
const ODD_CHARACTERS =
  'aAzZ09_"\\/\u0000\u0007\b\t\n\u001f \u007f\u0080é\u2028\u2029\ud7ff\ue000\ufffd\uffff\u{10000}\u{1f600}\u{10ffff}';

/** An object with these members, including `__proto__`. */
export function objectOf(members: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [name, value] of members) {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}
