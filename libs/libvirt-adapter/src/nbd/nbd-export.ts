/** A disk that is served, read-only. */
export interface NbdExport {
  readonly sizeBytes: number;
  /** Any part of it, at most `MAX_READ_BYTES`. */
  read(offset: number, length: number): Promise<Buffer>;
}

/** A longer read is refused. QEMU's own limit. */
export const MAX_READ_BYTES = 32 * 1024 ** 2;

/** The bytes of replies that are read or not sent yet, of all connections of one server. */
export class ReplyBudget {
  private free: number;
  private readonly waiting: { readonly bytes: number; readonly resolve: () => void }[] = [];

  /** @param bytes at least the longest reply */
  constructor(bytes: number) {
    this.free = bytes;
  }

  /** Resolves in the order of the calls. */
  acquire(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({ bytes, resolve });
      this.serve();
    });
  }

  release(bytes: number): void {
    this.free += bytes;
    this.serve();
  }

  private serve(): void {
    for (let next = this.waiting[0]; next && next.bytes <= this.free; next = this.waiting[0]) {
      this.waiting.shift();
      this.free -= next.bytes;
      next.resolve();
    }
  }
}
