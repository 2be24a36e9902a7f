export interface Timer {
  at: number;
  order: number;
  callback: () => void;
  canceled: boolean;
}

/** A binary heap of timers by due time; timers that are due at the same time keep the order of their insertion. */
export class TimerHeap {
  private readonly heap: Timer[] = [];
  private order = 0;

  add(at: number, callback: () => void): () => void {
    const timer: Timer = { at, order: this.order++, callback, canceled: false };
    this.heap.push(timer);
    this.rise(this.heap.length - 1);
    return () => {
      timer.canceled = true;
    };
  }

  peek(): Timer | undefined {
    while (this.heap[0]?.canceled) this.pop();
    return this.heap[0];
  }

  /** Removes and returns the first timer that is due at or before `time`. */
  takeDue(time: number): Timer | undefined {
    const first = this.peek();
    return first && first.at <= time ? this.pop() : undefined;
  }

  clear(): void {
    this.heap.length = 0;
  }

  private pop(): Timer | undefined {
    const first = this.heap[0];
    const last = this.heap.pop();
    if (last && this.heap.length > 0) {
      this.heap[0] = last;
      this.sink(0);
    }
    return first;
  }

  private before(a: number, b: number): boolean {
    const left = this.heap[a]!;
    const right = this.heap[b]!;
    return left.at < right.at || (left.at === right.at && left.order < right.order);
  }

  private swap(a: number, b: number): void {
    [this.heap[a], this.heap[b]] = [this.heap[b]!, this.heap[a]!];
  }

  private rise(index: number): void {
    for (
      let at = index, parent = (at - 1) >> 1;
      at > 0 && this.before(at, parent);
      at = parent, parent = (at - 1) >> 1
    ) {
      this.swap(at, parent);
    }
  }

  private sink(index: number): void {
    for (let at = index; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.heap.length && this.before(child, least)) least = child;
      }
      if (least === at) return;
      this.swap(at, least);
      at = least;
    }
  }
}
