import { type Words, fingerprint } from './fingerprint.js';
import { type Rate, type RateTerms, checkTerms } from './rate.js';
import type { WindowTable } from './window-table.js';

/** A rate of one table: its terms, and the secret under which its keys are hashed. */
export class LocalRate implements Rate {
  readonly name: string;
  readonly index: number;
  readonly table: WindowTable;
  limit = 0;
  windowMs = 0;
  readonly #start = new Int32Array(4);
  readonly #hash = new Int32Array(4);
  /** A flood is one key over and over: its hash is not worked out again. */
  #hashedKey: string | undefined;

  constructor(name: string, index: number, table: WindowTable) {
    this.name = name;
    this.index = index;
    this.table = table;
  }

  setTerms(terms: RateTerms): void {
    checkTerms(this.name, terms);
    this.limit = terms.limit;
    this.windowMs = terms.windowMs;
    this.table.limits[this.index] = terms.limit;
  }

  /** Every rate hashes from a start of its own, so that one key under two rates is two keys. */
  startFrom(secret: Words): void {
    fingerprint(this.name, secret, this.#start);
    this.#hashedKey = undefined;
  }

  /** The key's fingerprint, good until the next call. */
  fingerprintOf(key: string): Words {
    if (key !== this.#hashedKey) {
      fingerprint(key, this.#start, this.#hash);
      this.#hashedKey = key;
    }
    return this.#hash;
  }
}
