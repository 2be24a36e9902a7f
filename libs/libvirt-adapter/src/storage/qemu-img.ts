import { DomainError } from '@headgate/domain-contracts';
import { runProgram, type RunProgram } from '../virsh/run-program.js';
import { translateFailure } from '../virsh/virsh-errors.js';
import type { DiskImage } from './disk-image.js';

const CONVERT_TIMEOUT_MS = 6 * 60 * 60_000;
const INSPECT_TIMEOUT_MS = 30_000;

/** qemu-img on local files. The format is always given explicitly, never probed from an untrusted image. */
export class QemuImg {
  constructor(private readonly run: RunProgram = runProgram) {}

  /**
   * Checks an image, whose header was inspected before, with the program that will open it.
   * @throws DomainError INVALID_SOURCE when it refers to other files or is damaged
   */
  async check(file: string, { format }: DiskImage): Promise<void> {
    const result = await this.run('qemu-img', ['info', '-f', format, '--output=json', file], {
      timeoutMs: INSPECT_TIMEOUT_MS,
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
  }

  /** Converts the guest-visible content into a new qcow2 image without snapshots, zero blocks or custom options. */
  async convert(from: string, { format }: DiskImage, to: string, signal?: AbortSignal): Promise<void> {
    await this.call(['convert', '-f', format, '-O', 'qcow2', from, to], { timeoutMs: CONVERT_TIMEOUT_MS, signal });
  }

  async grow(file: string, bytes: number): Promise<void> {
    await this.call(['resize', '-q', '-f', 'qcow2', file, String(bytes)], { timeoutMs: INSPECT_TIMEOUT_MS });
  }

  private async call(args: readonly string[], options: { timeoutMs: number; signal?: AbortSignal }): Promise<void> {
    const result = await this.run('qemu-img', args, options);
    if (result.code !== 0) throw translateFailure('qemu-img', result);
  }
}

interface ImageInfo {
  readonly 'backing-filename'?: string;
  readonly 'format-specific'?: { readonly data?: { readonly 'data-file'?: string; readonly corrupt?: boolean } };
}

const damaged = (why: string): DomainError =>
  new DomainError(
    'INVALID_SOURCE',
    `The image is damaged (${why
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^qemu-img: /, '')
      .slice(0, 200)}).`,
  );
