/** A map of limited size. The entry that was used longest ago makes room for a new one. */
export class RecentMap<Value> {
  private readonly entries = new Map<string, Value>();

  constructor(private readonly maxSize: number) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: string): Value | undefined {
    const value = this.entries.get(key);
    if (value !== undefined) this.use(key, value);
    return value;
  }

  /** The entry of the key, which is created if it is missing. */
  of(key: string, create: () => Value): Value {
    const value = this.entries.get(key) ?? create();
    this.use(key, value);
    const oldest = this.entries.keys().next();
    if (this.entries.size > this.maxSize && !oldest.done) this.entries.delete(oldest.value);
    return value;
  }

  all(): Iterable<[string, Value]> {
    return this.entries;
  }

  private use(key: string, value: Value): void {
    this.entries.delete(key);
    this.entries.set(key, value);
  }
}
