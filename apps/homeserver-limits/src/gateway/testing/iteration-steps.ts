type Iterable = Map<unknown, unknown> | Set<unknown>;

const prototypes = [new Map().entries(), new Set().entries()].map((iterator) => Object.getPrototypeOf(iterator)) as {
  next: () => unknown;
}[];

/** How many entries of maps and sets `action` visits, so that a scan is seen without measuring time. */
export function iterationSteps(action: () => unknown): number {
  let steps = 0;
  const restore = [...prototypes.map(countNext), ...[Map.prototype, Set.prototype].map(countForEach)];
  try {
    action();
  } finally {
    for (const undo of restore) undo();
  }
  return steps;

  function countNext(prototype: (typeof prototypes)[number]): () => void {
    const { next } = prototype;
    prototype.next = function (this: unknown) {
      steps++;
      return Reflect.apply(next, this, []);
    };
    return () => void (prototype.next = next);
  }

  function countForEach(prototype: Iterable): () => void {
    const { forEach } = prototype as Map<unknown, unknown>;
    prototype.forEach = function (this: Iterable, ...given: Parameters<typeof forEach>) {
      steps += this.size;
      Reflect.apply(forEach, this, given);
    };
    return () => void ((prototype as Map<unknown, unknown>).forEach = forEach);
  }
}
