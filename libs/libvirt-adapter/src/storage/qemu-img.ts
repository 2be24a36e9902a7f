import { chown } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { DomainError } from '@headgate/domain-contracts';
import { runProgram, type ProgramLimits, type RunOptions, type RunProgram } from '../programs/run-program.js';
import { translateFailure } from '../programs/translate-failure.js';
import type { DiskImage } from './disk-image.js';

const CONVERT_TIMEOUT_MS = 6 * 60 * 60_000;
const INSPECT_TIMEOUT_MS = 30_000;
/** It reads the tables of a large disk. */
const MEASURE_TIMEOUT_MS = 120_000;
const GIB = 1024 ** 3;
const INSPECT_LIMITS: ProgramLimits = { addressSpaceBytes: GIB, cpuSeconds: 10 };
const MEASURE_LIMITS: ProgramLimits = { addressSpaceBytes: GIB, cpuSeconds: 60 };
const CONVERT_LIMITS: ProgramLimits = { addressSpaceBytes: 4 * GIB, cpuSeconds: 3600 };
/** Room for the metadata of a qcow2 image, besides its data. */
const QCOW2_OVERHEAD_BYTES = 64 * 1024 ** 2;

/** User and group of the system's unprivileged account. */
const UNPRIVILEGED_ID = 65_534;

/**
 * qemu-img on local files, with limits on memory and time. The format is always given explicitly, never probed from an
 * untrusted image. As root, images in a private folder are processed by an unprivileged user, who gets the folder.
 */
export class QemuImg {
  constructor(
    private readonly run: RunProgram = runProgram,
    private readonly isRoot = process.getuid?.() === 0,
  ) {}

  /**
   * Checks an image, whose header was inspected before, with the program that will open it.
   * @returns the image with its virtual size
   * @throws DomainError INVALID_SOURCE when it refers to other files or is damaged
   */
  async check(file: string, image: DiskImage): Promise<DiskImage> {
    const { format } = image;
    const result = await this.run('qemu-img', ['info', '-f', format, '--output=json', file], {
      timeoutMs: INSPECT_TIMEOUT_MS,
      limits: INSPECT_LIMITS,
    });
    if (result.missing) throw translateFailure('qemu-img', result);
    if (result.code !== 0) throw damaged(result.stderr);
    const info = JSON.parse(result.stdout) as ImageInfo;
    const data = info['format-specific']?.data;
    if (info['backing-filename'] !== undefined || data?.['data-file'] !== undefined) {
      throw new DomainError(
        'INVALID_SOURCE',
        'The image refers to other files: flatten it with `qemu-img convert` first.',
      );
    }
    if (data?.corrupt === true) throw damaged('it is marked as corrupt');
    return { format, bytes: image.bytes || (info['virtual-size'] ?? 0) };
  }

  /**
   * Converts the guest-visible content into a new qcow2 image without snapshots, zero blocks or custom options.
   * @param to a file in a private folder; an image in the same folder is untrusted
   */
  async convert(from: string, { format, bytes }: DiskImage, to: string, signal?: AbortSignal): Promise<void> {
    const folder = dirname(to);
    const isUntrusted = dirname(from) === folder;
    const user = { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID };
    if (isUntrusted && this.isRoot) for (const path of [folder, from]) await chown(path, user.uid, user.gid);
    const args = ['convert', '-f', format, '-O', 'qcow2', isUntrusted ? basename(from) : from, basename(to)];
    const result = await this.run('qemu-img', args, {
      timeoutMs: CONVERT_TIMEOUT_MS,
      signal,
      // The folders above may be closed to the unprivileged user, so its paths are relative.
      cwd: folder,
      ...(isUntrusted && this.isRoot && { user }),
      limits: { ...CONVERT_LIMITS, fileBytes: Math.ceil(bytes * 1.01) + QCOW2_OVERHEAD_BYTES },
    });
    if (result.code === 0) return;
    const failure = translateFailure('qemu-img', result);
    // Whatever is not about this machine is about the image.
    throw failure.code === 'BACKEND_FAILED' && result.ended === undefined ? damaged(result.stderr) : failure;
  }

  /**
   * The size that the guest sees, and the size of all files that the content consists of. Also while a VM uses the
   * disk.
   */
  async measure(file: string, format: string): Promise<{ readonly sizeBytes: number; readonly usedBytes: number }> {
    const result = await this.run(
      'qemu-img',
      ['info', '--force-share', '--backing-chain', '-f', format, '--output=json', file],
      { timeoutMs: INSPECT_TIMEOUT_MS, limits: INSPECT_LIMITS },
    );
    if (result.code !== 0) throw translateFailure('qemu-img', result);
    const chain = JSON.parse(result.stdout) as readonly ImageInfo[];
    const sizeBytes = chain[0]?.['virtual-size'] ?? 0;
    const filesBytes = chain.reduce((sum, image) => sum + (image['actual-size'] ?? 0), 0);
    return { sizeBytes, usedBytes: Math.min(sizeBytes, filesBytes) };
  }

  /**
   * The space that a qcow2 copy of the content takes at most, without parts that are zero. Also while a VM uses the
   * disk, as of about now.
   */
  async copyBytes(file: string, format: string): Promise<number> {
    const result = await this.run(
      'qemu-img',
      ['measure', '--force-share', '-f', format, '-O', 'qcow2', '--output=json', file],
      { timeoutMs: MEASURE_TIMEOUT_MS, limits: MEASURE_LIMITS },
    );
    if (result.code !== 0) throw translateFailure('qemu-img', result);
    return (JSON.parse(result.stdout) as { readonly required?: number }).required ?? 0;
  }

  /**
   * Writes the changes of an overlay into the image on which it is based. The overlay stays as it is, so this can be
   * repeated.
   */
  async commit(overlay: string, base: string): Promise<void> {
    await this.call(['commit', '-q', '-f', 'qcow2', '-d', '-b', base, overlay], { timeoutMs: CONVERT_TIMEOUT_MS });
  }

  /** Makes an overlay refer to another image with the same content as its present one. */
  async rebase(overlay: string, base: string): Promise<void> {
    await this.call(['rebase', '-q', '-u', '-f', 'qcow2', '-F', 'qcow2', '-b', base, overlay], {
      timeoutMs: INSPECT_TIMEOUT_MS,
    });
  }

  /** Reads the header of an image that nothing else writes to. @throws DomainError BUSY if something does */
  async inspect(file: string): Promise<void> {
    await this.call(['info', '-f', 'qcow2', file], { timeoutMs: INSPECT_TIMEOUT_MS, limits: INSPECT_LIMITS });
  }

  /** Removes a bitmap of changed blocks from an image; a missing one is not an error. */
  async removeBitmap(file: string, bitmap: string): Promise<void> {
    const args = ['bitmap', '--remove', '-f', 'qcow2', file, bitmap];
    const result = await this.run('qemu-img', args, { timeoutMs: INSPECT_TIMEOUT_MS });
    if (result.code !== 0 && !/bitmap '[^']*' (?:not found|does not exist)/i.test(result.stderr))
      throw translateFailure('qemu-img', result);
  }

  async grow(file: string, bytes: number): Promise<void> {
    await this.call(['resize', '-q', '-f', 'qcow2', file, String(bytes)], {
      timeoutMs: INSPECT_TIMEOUT_MS,
      limits: INSPECT_LIMITS,
    });
  }

  private async call(args: readonly string[], options: RunOptions): Promise<void> {
    const result = await this.run('qemu-img', args, options);
    if (result.code !== 0) throw translateFailure('qemu-img', result);
  }
}

interface ImageInfo {
  readonly 'virtual-size'?: number;
  readonly 'actual-size'?: number;
  readonly 'backing-filename'?: string;
  readonly 'format-specific'?: { readonly data?: { readonly 'data-file'?: string; readonly corrupt?: boolean } };
}

/** @param why may name files of this machine, which are none of the user's business */
const damaged = (why: string): DomainError => {
  const [line = ''] = why.trim().split('\n').slice(-1);
  const reason = line
    .replace(/^qemu-img: /, '')
    .replace(/^Could not open '[^']*': /, '')
    .replace(/'[^']*\/[^']*'/g, 'a file');
  return new DomainError('INVALID_SOURCE', `The image is damaged (${reason.slice(0, 200)}).`);
};
