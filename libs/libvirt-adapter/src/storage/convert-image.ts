import { createReadStream, createWriteStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { DomainError, formatBytes, type TaskReporter } from '@headgate/domain-contracts';
import { limitBytes, maxImageBytes, type SpaceGuard } from '@headgate/downloads';
import { extract } from 'tar-stream';
import type { StoredFile } from './base-images.js';
import { inspectImage } from './disk-image.js';
import type { QemuImg } from './qemu-img.js';

export interface ConversionOptions {
  /** A private folder for the new file. */
  readonly folder: string;
  /** The largest virtual size. */
  readonly maxBytes: number;
  readonly images: QemuImg;
  /** The space of the folder. */
  readonly space: SpaceGuard;
  readonly report: Pick<TaskReporter, 'step' | 'signal'>;
}

/** Named in plans, too. */
export const CONVERSION_STEPS = { check: 'Checking the image', convert: 'Converting the image' } as const;

/**
 * Checks an image from an unknown origin, and converts it to a new qcow2 file in the private folder.
 * @throws DomainError INVALID_SOURCE, INVALID_QUANTITY when it is larger than the limit, INSUFFICIENT_STORAGE
 */
export async function convertImage(
  source: string,
  { folder, maxBytes, images, space, report }: ConversionOptions,
): Promise<StoredFile> {
  report.step(CONVERSION_STEPS.check);
  const file = (await isOva(source)) ? await unpackOva(source, { folder, maxBytes, space, report }) : source;
  const found = await images.check(file, await inspectImage(file));
  checkFits(found.bytes, maxBytes);
  report.step(CONVERSION_STEPS.convert);
  const converted = join(folder, 'disk.qcow2');
  // The converted image takes no more space than the original, unless that is compressed.
  const release = await space.reserve(await allocatedBytes(file));
  await images.convert(file, found, converted, report.signal).finally(release);
  // Makes room for the image in the pool.
  for (const path of new Set([file, source])) if (path.startsWith(folder)) await rm(path, { force: true });
  return { file: converted, bytes: found.bytes };
}

/** @throws DomainError INVALID_QUANTITY */
export function checkFits(imageBytes: number, diskBytes: number): void {
  if (imageBytes <= diskBytes) return;
  throw new DomainError('INVALID_QUANTITY', `disk must be at least ${formatBytes(imageBytes)}, the size of the image.`);
}

const TAR_MAGIC_OFFSET_BYTES = 257;
const TAR_NAME_BYTES = 100;

/** An OVA is a tar archive whose first file is the description of the machine. */
async function isOva(file: string): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const { buffer } = await handle.read(Buffer.alloc(512), 0, 512, 0);
    const [name = ''] = buffer.toString('latin1', 0, TAR_NAME_BYTES).split('\0');
    return (
      buffer.toString('latin1', TAR_MAGIC_OFFSET_BYTES, TAR_MAGIC_OFFSET_BYTES + 5) === 'ustar' && /\.ovf$/i.test(name)
    );
  } finally {
    await handle.close();
  }
}

/** Writes the only disk of an appliance into a file. Names in the archive are never used as paths. */
async function unpackOva(
  source: string,
  { folder, maxBytes, space, report }: Omit<ConversionOptions, 'images'>,
): Promise<string> {
  const file = join(folder, 'appliance-disk');
  const release = await space.reserve((await stat(source)).size);
  const archive = extract();
  let disks = 0;
  archive.on('entry', ({ name, type }, content, next) => {
    // A destroyed archive destroys its entries with the same error.
    content.on('error', () => undefined);
    if (type !== 'file' || !/\.vmdk$/i.test(name)) {
      content.on('end', next).resume();
      return;
    }
    disks++;
    if (disks > 1) {
      archive.destroy(invalid('The appliance has several disks: import each of them separately.'));
      return;
    }
    pipeline(content, limitBytes(maxImageBytes(maxBytes)), createWriteStream(file, { mode: 0o600 })).then(
      () => next(),
      (error: Error) => archive.destroy(error),
    );
  });
  try {
    await pipeline(createReadStream(source), archive, { signal: report.signal });
  } catch (error) {
    if (error instanceof DomainError) throw error;
    report.signal.throwIfAborted();
    throw new DomainError('INVALID_SOURCE', 'The appliance is damaged: it could not be unpacked.', { cause: error });
  } finally {
    release();
  }
  if (disks === 0) throw invalid('The appliance has no disk in the VMDK format.');
  return file;
}

const invalid = (message: string): DomainError => new DomainError('INVALID_SOURCE', message);

/** The space that a file takes; stat counts blocks of 512 bytes. */
const allocatedBytes = async (file: string): Promise<number> => (await stat(file)).blocks * 512;
