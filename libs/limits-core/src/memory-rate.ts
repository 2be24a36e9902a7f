import { type HashWords, fingerprint } from './fingerprint.js';
import { type Rate, type RateAlgorithm, type RateOptions, checkRateOptions } from './rate.js';
import type { WindowTable } from './window-table.js';

/** A rate of one table: its options, and the secret that its keys are hashed with. */
export class MemoryRate implements Rate {
  readonly name: string;
  readonly index: number;
  readonly table: WindowTable;
  limit = 0;
  windowMs = 0;
  algorithm: RateAlgorithm = 'fixed-window';
  isGcra = false;
  private readonly seed = new Int32Array(4);
  private readonly hash = new Int32Array(4);
  /** A flood repeats one key: its hash is computed once. */
  private hashedKey: string | undefined;

  constructor(name: string, index: number, table: WindowTable) {
    this.name = name;
    this.index = index;
    this.table = table;
  }

  setOptions(options: RateOptions): void {
    checkRateOptions(this.name, options);
    this.limit = options.limit;
    this.windowMs = options.windowMs;
    this.algorithm = options.algorithm ?? 'fixed-window';
    this.isGcra = this.algorithm === 'gcra';
    this.table.limits[this.index] = options.limit;
    this.table.gcraWindows[this.index] = this.isGcra ? options.windowMs : 0;
  }

  /**
   * Derives this rate's own seed from the table's secret, so that the same text under two rates gives two keys. The
   * algorithm is a part of it, because the two read a slot differently.
   */
  deriveSeed(secret: HashWords): void {
    fingerprint(this.isGcra ? `${this.name}\0gcra` : this.name, secret, this.seed);
    this.hashedKey = undefined;
  }

  /** The key's fingerprint, valid until the next call. */
  fingerprintOf(key: string): HashWords {
    if (key !== this.hashedKey) {
      fingerprint(key, this.seed, this.hash);
      this.hashedKey = key;
    }
    return this.hash;
  }
}
