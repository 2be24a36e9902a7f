import { statfs } from 'node:fs/promises';
import { Transform, type Readable } from 'node:stream';
import { DomainError, formatBytes } from '@headgate/domain-contracts';

const MIB = 1024 ** 2;
/** Headers and metadata of an image, besides the content of its disk. */
const IMAGE_OVERHEAD_BYTES = 64 * MIB;
/** The largest installation ISO. */
export const MAX_ISO_BYTES = 32 * 1024 * MIB;
/** The most that a stream may grow by decompression, once it has more than `RATIO_FREE_BYTES`. */
const MAX_COMPRESSION_RATIO = 200;
const RATIO_FREE_BYTES = 16 * MIB;
/** Free space that downloads leave on a disk. Guests that share the disk are paused when it is full. */
export const SPACE_WATERMARK_BYTES = 1024 * MIB;
/** Free space is measured once per this many bytes. */
const SPACE_CHECK_STEP_BYTES = 8 * MIB;

/** The largest image of any disk. */
const MAX_IMAGE_BYTES = 2 * 1024 * 1024 * MIB;

/** The largest image that can fit on a disk. */
export const maxImageBytes = (diskBytes: number): number =>
  Math.min(Math.ceil(diskBytes * 1.01) + IMAGE_OVERHEAD_BYTES, MAX_IMAGE_BYTES);

/** Pipes a stream through others. An error anywhere destroys all of them. */
export function chain(source: Readable, ...transforms: Transform[]): Readable {
  return transforms.reduce((from, to) => {
    from.on('error', (error) => to.destroy(error));
    to.on('close', () => from.destroy());
    return from.pipe(to);
  }, source);
}

/** Passes bytes through and fails after a number of them. */
export function limitBytes(maxBytes: number): Transform {
  let passed = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      passed += chunk.length;
      done(passed <= maxBytes ? null : tooLarge(maxBytes), chunk);
    },
  });
}

export const tooLarge = (maxBytes: number): DomainError =>
  new DomainError('INVALID_SOURCE', `The image is larger than ${formatBytes(maxBytes)}, more than the disk can hold.`);

/**
 * Counts the bytes in front of and behind a decompressor. The second part fails when the output grows out of
 * proportion, as that of a decompression bomb does.
 */
export function limitRatio(): { readonly compressed: Transform; readonly decompressed: Transform } {
  let read = 0;
  let written = 0;
  return {
    compressed: new Transform({
      transform(chunk: Buffer, _encoding, done) {
        read += chunk.length;
        done(null, chunk);
      },
    }),
    decompressed: new Transform({
      transform(chunk: Buffer, _encoding, done) {
        written += chunk.length;
        if (written <= Math.max(RATIO_FREE_BYTES, read * MAX_COMPRESSION_RATIO)) return done(null, chunk);
        done(
          new DomainError(
            'INVALID_SOURCE',
            'The image is compressed so much that it is refused as a decompression bomb.',
          ),
        );
      },
    }),
  };
}

export type FreeSpace = (folder: string) => Promise<number>;

export const freeSpace: FreeSpace = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/** The space of one folder for downloads, shared by all downloads of this process that use the same instance. */
export class SpaceGuard {
  private reservedBytes = 0;

  constructor(
    private readonly folder: string,
    private readonly measure: FreeSpace = freeSpace,
  ) {}

  /**
   * Reserves space for a download.
   * @param bytes 0 when the size is unknown
   * @returns a function that ends the reservation
   * @throws DomainError INSUFFICIENT_STORAGE
   */
  async reserve(bytes: number): Promise<() => void> {
    this.reservedBytes += bytes;
    const release = (): void => void (this.reservedBytes -= bytes);
    try {
      if ((await this.measure(this.folder)) - this.reservedBytes < SPACE_WATERMARK_BYTES) throw noSpace(bytes);
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Whether a download may begin. A folder that does not exist yet is created by the first one. */
  async isAvailable(): Promise<boolean> {
    const free = await this.measure(this.folder).catch(() => Infinity);
    return free - this.reservedBytes >= SPACE_WATERMARK_BYTES;
  }

  /** Passes bytes through and fails before the disk is full. */
  watch(): Transform {
    const check = this.checker();
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        check(chunk.length).then(
          () => done(null, chunk),
          (error: Error) => done(error),
        );
      },
    });
  }

  /**
   * Returns a function that fails before the disk is full. Its argument is the number of bytes that are written next.
   */
  checker(): (bytes: number) => Promise<void> {
    let unchecked = 0;
    return async (bytes) => {
      unchecked += bytes;
      if (unchecked < SPACE_CHECK_STEP_BYTES) return;
      unchecked = 0;
      if ((await this.measure(this.folder)) < SPACE_WATERMARK_BYTES) throw noSpace(0);
    };
  }
}

const noSpace = (bytes: number): DomainError =>
  new DomainError(
    'INSUFFICIENT_STORAGE',
    `The disk of this machine does not have enough space${bytes > 0 ? ` for ${formatBytes(bytes)}` : ''}: ${formatBytes(SPACE_WATERMARK_BYTES)} must stay free.`,
  );
