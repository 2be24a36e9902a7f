import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib';
import { crc32Combine } from './crc32-combine.js';

/** A part of a gzip stream that refers to no other part, so that it may follow any other. */
interface GzipBlock {
  readonly bytes: Buffer;
  readonly crc: number;
  /** Before compression, in bytes. */
  readonly length: number;
}

const deflate = promisify(deflateRaw);
/** Level 6 makes a list 10% smaller than level 3 and takes twice as long. */
const OPTIONS = { level: 3, finishFlush: constants.Z_FULL_FLUSH } as const;
/** Each running compression takes 256 KiB, and a thread of the pool that files and names also need. */
const MAX_CONCURRENT = 2;

/** The start of a gzip file without a name or a time. Source: RFC 1952. */
export const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty last block. Source: RFC 1951. */
const LAST_BLOCK = Buffer.from([0x03, 0x00]);

/**
 * Compresses bodies that consist of pieces, most of which stay the same from body to body. Each piece is compressed
 * once, for as long as it is in use; the compressed pieces of a body then form one gzip stream.
 */
export class GzipBlocks {
  private readonly known = new WeakMap<Buffer, GzipBlock | Promise<GzipBlock>>();
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  /** A gzip file with these pieces. */
  async file(pieces: readonly Buffer[]): Promise<readonly Buffer[]> {
    const blocks = await this.blocksOf(pieces);
    let crc = 0;
    let length = 0;
    for (const block of blocks) {
      crc = crc32Combine(crc, block.crc, block.length);
      length += block.length;
    }
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc, 0);
    trailer.writeUInt32LE(length % 2 ** 32, 4);
    return [GZIP_HEADER, ...blocks.map(({ bytes }) => bytes), LAST_BLOCK, trailer];
  }

  /** These pieces inside a gzip stream that may never end. */
  async parts(pieces: readonly Buffer[]): Promise<readonly Buffer[]> {
    return (await this.blocksOf(pieces)).map(({ bytes }) => bytes);
  }

  /** A small piece inside a gzip stream, compressed in one step. */
  part(piece: Buffer): Buffer {
    const known = this.known.get(piece);
    if (known && !(known instanceof Promise)) return known.bytes;
    const block = blockOf(piece, deflateRawSync(piece, OPTIONS));
    this.known.set(piece, block);
    return block.bytes;
  }

  private async blocksOf(pieces: readonly Buffer[]): Promise<GzipBlock[]> {
    const blocks: GzipBlock[] = [];
    const missing: Promise<void>[] = [];
    pieces.forEach((piece, index) => {
      const block = this.known.get(piece) ?? this.compress(piece);
      if (block instanceof Promise) missing.push(block.then((done) => void (blocks[index] = done)));
      else blocks[index] = block;
    });
    await Promise.all(missing);
    return blocks;
  }

  private compress(piece: Buffer): Promise<GzipBlock> {
    const block = this.turn().then(async () => {
      try {
        const done = blockOf(piece, await deflate(piece, OPTIONS));
        this.known.set(piece, done);
        return done;
      } finally {
        this.running--;
        this.waiting.shift()?.();
      }
    });
    this.known.set(piece, block);
    return block;
  }

  /** Resolves when a compression may begin. */
  private async turn(): Promise<void> {
    if (this.running >= MAX_CONCURRENT) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.running++;
  }
}

const blockOf = (piece: Buffer, bytes: Buffer): GzipBlock => ({ bytes, crc: crc32(piece), length: piece.length });
