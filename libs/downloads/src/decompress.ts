import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { Duplex, PassThrough, type Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { DomainError } from '@headgate/domain-contracts';

type Compression = 'gzip' | 'zstd' | 'xz' | 'none';

const MAGIC: readonly (readonly [Compression, string])[] = [
  ['gzip', '1f8b'],
  ['zstd', '28b52ffd'],
  ['xz', 'fd377a585a00'],
];
const LONGEST_MAGIC_BYTES = 6;

/**
 * The decompressed content of a stream. The format is detected from the data; file names and content types are ignored.
 */
export async function decompress(source: Readable): Promise<Readable> {
  const compression = compressionOf(await readHead(source, LONGEST_MAGIC_BYTES));
  const decompressor = createDecompressor(compression);
  // An error on either side destroys both.
  source.on('error', (error) => decompressor.destroy(error));
  decompressor.on('close', () => source.destroy());
  source.pipe(decompressor);
  return decompressor;
}

/** Detects the format from the first bytes. */
const compressionOf = (head: Buffer): Compression =>
  MAGIC.find(([, magic]) => head.toString('hex').startsWith(magic))?.[0] ?? 'none';

export async function isCompressed(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(LONGEST_MAGIC_BYTES), 0, LONGEST_MAGIC_BYTES, 0);
    return compressionOf(buffer.subarray(0, bytesRead)) !== 'none';
  } finally {
    await handle.close();
  }
}

function createDecompressor(compression: Compression): Duplex {
  switch (compression) {
    case 'gzip':
      return createGunzip();
    case 'zstd':
      return createZstdDecompress();
    case 'xz':
      return createXzDecompressor();
    case 'none':
      return new PassThrough();
  }
}

/** Node has no xz support, so the xz program does it. */
function createXzDecompressor(): Duplex {
  const child = spawn('xz', ['--decompress', '--stdout'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const stream = Duplex.from({ writable: child.stdin, readable: child.stdout });
  child.on('error', (cause) =>
    stream.destroy(
      new DomainError('NOT_SUPPORTED', 'The image is compressed with xz, which is not installed: install xz-utils.', {
        cause,
      }),
    ),
  );
  child.on(
    'close',
    (code) =>
      code !== 0 &&
      stream.destroy(new DomainError('INVALID_SOURCE', 'The image is damaged: xz could not decompress it.')),
  );
  stream.on('close', () => child.kill('SIGKILL'));
  return stream;
}

/** Reads the first bytes and unshifts them. */
function readHead(source: Readable, bytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const finish = (): void => {
      source.off('data', read).off('end', finish).off('error', reject);
      source.pause();
      if (head.length > 0 && !source.readableEnded) source.unshift(head);
      resolve(head);
    };
    const read = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      if (head.length >= bytes) finish();
    };
    source.on('data', read).on('end', finish).on('error', reject);
  });
}
