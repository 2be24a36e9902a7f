import type { Bound } from './bound.js';

/** The bound of each operation that has one. */
export class Bounds {
  private readonly byOperation: ReadonlyMap<string, Bound>;

  constructor(bounds: readonly Bound[]) {
    this.byOperation = new Map(bounds.flatMap((bound) => bound.operations.map((operation) => [operation, bound])));
  }

  of(operation: string): Bound | undefined {
    return this.byOperation.get(operation);
  }
}
