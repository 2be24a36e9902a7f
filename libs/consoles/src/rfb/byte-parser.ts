import { ByteQueue } from './byte-queue.js';

/** Reads a protocol: yields how many bytes it needs next, and receives them. */
export type Parsing<T = void> = Generator<number, T, Buffer>;

/** Feeds a parser with bytes, in whatever pieces they arrive. Its work is proportional to the number of bytes. */
export class ByteParser {
  private readonly queue = new ByteQueue();
  private neededBytes: number | undefined;

  constructor(private readonly parsing: Parsing) {
    this.advance(parsing.next());
  }

  /** @throws the parser's error; the parser receives nothing after that */
  push(data: Buffer): void {
    this.queue.push(data);
    while (this.neededBytes !== undefined && this.queue.length >= this.neededBytes) {
      const bytes = this.queue.take(this.neededBytes);
      this.neededBytes = undefined;
      this.advance(this.parsing.next(bytes));
    }
    // A parser that is done or failed reads no more.
    if (this.neededBytes === undefined) this.queue.clear();
  }

  private advance(step: IteratorResult<number, void>): void {
    this.neededBytes = step.done ? undefined : step.value;
  }
}

const SKIP_STEP_BYTES = 65_536;

/** Skips bytes without keeping them all. */
export function* skip(length: number): Parsing {
  for (let left = length; left > 0;) {
    const step = Math.min(left, SKIP_STEP_BYTES);
    yield step;
    left -= step;
  }
}
