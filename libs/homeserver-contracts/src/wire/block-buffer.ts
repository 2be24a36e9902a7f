import { releaseBytes } from './release-bytes.js';

const BLOCK_BYTES = 64 * 1024;

/**
 * Collects chunks into blocks, so that many small chunks take no more memory than a few large ones. It frees its blocks
 * itself, without waiting for the garbage collector.
 */
export class BlockBuffer {
  private blocks: Buffer[] = [];
  private block = Buffer.alloc(0);
  private filled = 0;
  private isDropped = false;

  /** @param onGrow receives the bytes of each block before it is allocated, and may drop the buffer */
  constructor(private readonly onGrow: (bytes: number) => void) {}

  append(chunk: Buffer, expectedBytes: number): void {
    for (let at = 0; at < chunk.length && !this.isDropped;) {
      if (this.filled === this.block.length)
        this.addBlock(Math.min(BLOCK_BYTES, Math.max(expectedBytes, chunk.length - at)));
      const copied = chunk.copy(this.block, this.filled, at);
      this.filled += copied;
      at += copied;
    }
  }

  /** Everything that was appended. Each block is freed as soon as it is copied, so that few bytes exist twice. */
  take(): Buffer {
    const { blocks, block, filled } = this;
    if (blocks.length === 0) return block.subarray(0, filled);
    // The system provides the memory of such a large buffer page by page, as it is filled.
    const whole = Buffer.allocUnsafeSlow(blocks.reduce((sum, { length }) => sum + length, filled));
    let at = 0;
    for (const full of blocks) {
      at += full.copy(whole, at);
      releaseBytes(full);
    }
    block.copy(whole, at, 0, filled);
    this.drop();
    return whole;
  }

  /** Frees everything that was appended. Nothing more is appended. */
  drop(): void {
    this.isDropped = true;
    for (const full of this.blocks) releaseBytes(full);
    releaseBytes(this.block);
    this.blocks = [];
    this.block = Buffer.alloc(0);
    this.filled = 0;
  }

  private addBlock(bytes: number): void {
    this.onGrow(bytes);
    if (this.isDropped) return;
    if (this.filled > 0) this.blocks.push(this.block);
    this.block = Buffer.allocUnsafeSlow(bytes);
    this.filled = 0;
  }
}
