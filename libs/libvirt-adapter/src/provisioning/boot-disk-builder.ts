import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError, formatBytes, type VmSpec } from '@headgate/domain-contracts';
import { downloadImage, type DownloadOptions } from '../fetching/download-image.js';
import type { HttpClient } from '../fetching/http-get.js';
import { MAX_ISO_BYTES, maxImageBytes, SPACE_WATERMARK_BYTES, type SpaceGuard } from '../fetching/limits.js';
import { pullContainerDisk } from '../fetching/pull-container-disk.js';
import { checkIso, inspectImage } from '../storage/disk-image.js';
import type { QemuImg } from '../storage/qemu-img.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { containerDiskOf } from './creation-steps.js';

/** Receives the progress of building a disk. */
export interface DiskProgress {
  readonly signal: AbortSignal;
  step(name: string): void;
  log(line: string): void;
  progress(fraction: number): void;
}

export interface DiskRequest {
  readonly spec: VmSpec;
  /** The guest architecture as libvirt names it. */
  readonly arch: string;
  /** A private folder that the caller removes afterwards. */
  readonly folder: string;
  readonly disk: string;
  /** Volume of the installation ISO, for a source of kind `iso`. */
  readonly cdrom: string;
}

export interface Downloads {
  readonly http: HttpClient;
  /** The space for downloads. */
  readonly space: SpaceGuard;
}

interface ImageToStore {
  /** Path of the image. */
  readonly image: string;
  readonly diskBytes: number;
  readonly folder: string;
  /** Name of the new volume. */
  readonly disk: string;
}

/** Creates the volumes of a new domain from its source. */
export class BootDiskBuilder {
  constructor(
    private readonly pool: StoragePool,
    private readonly images: QemuImg,
    private readonly downloads: Downloads,
    private readonly tinyGuest: (() => Promise<string>) | undefined,
  ) {}

  async build(request: DiskRequest, report: DiskProgress): Promise<void> {
    const { spec, folder, disk, cdrom } = request;
    const { source } = spec;
    if (source.kind === 'pvc') return;
    if (source.kind === 'iso') {
      const disc = join(folder, 'disc.iso');
      report.step('Downloading the ISO');
      await downloadImage(this.downloads.http, source.url, disc, this.downloadOptions(report, MAX_ISO_BYTES));
      await checkIso(disc);
      report.step('Storing the ISO');
      await this.pool.checkSpace((await stat(disc)).size, SPACE_WATERMARK_BYTES);
      await this.pool.createFrom(cdrom, disc, report);
      await this.pool.createBlank(disk, spec.diskBytes);
      return;
    }
    const image = await this.fetch(request, report);
    await this.store({ image, diskBytes: spec.diskBytes, folder, disk }, report);
  }

  /** @returns the path of the downloaded image */
  private async fetch({ spec, arch, folder }: DiskRequest, report: DiskProgress): Promise<string> {
    const { source } = spec;
    const file = join(folder, 'source');
    const options = this.downloadOptions(report, maxImageBytes(spec.diskBytes));
    if (source.kind === 'import') {
      report.step('Downloading the image');
      await downloadImage(this.downloads.http, source.url, file, options);
      return file;
    }
    if (source.kind === 'image' && source.entry.builtLocally !== undefined && this.tinyGuest) {
      report.step('Building the image');
      return this.tinyGuest();
    }
    if (source.kind !== 'image' && source.kind !== 'containerDisk')
      throw new DomainError('NOT_SUPPORTED', "A disk can't be created from this source.");
    report.step('Pulling the container disk');
    const image = containerDiskOf(source);
    await pullContainerDisk({ http: this.downloads.http, image, arch, file }, options);
    return file;
  }

  private async store({ image, diskBytes, folder, disk }: ImageToStore, report: DiskProgress): Promise<void> {
    report.step('Checking the image');
    const found = await inspectImage(image);
    await this.images.check(image, found);
    if (found.bytes > diskBytes) {
      throw new DomainError(
        'INVALID_QUANTITY',
        `disk must be at least ${formatBytes(found.bytes)}, the size of the image.`,
      );
    }
    report.step('Converting the image');
    const converted = join(folder, 'disk.qcow2');
    // The converted image takes no more space than the original, unless that is compressed.
    const release = await this.downloads.space.reserve(await allocatedBytes(image));
    await this.images.convert(image, found, converted, report.signal).finally(release);
    // Makes room for the copy in the pool.
    if (image.startsWith(folder)) await rm(image, { force: true });
    if (diskBytes > found.bytes) await this.images.grow(converted, diskBytes);
    report.step('Storing the disk');
    await this.pool.checkSpace((await stat(converted)).size, SPACE_WATERMARK_BYTES);
    await this.pool.createFrom(disk, converted, report);
  }

  private downloadOptions(report: DiskProgress, maxBytes: number): DownloadOptions {
    return {
      signal: report.signal,
      maxBytes,
      space: this.downloads.space,
      onBytes: (received, total) => {
        if (total !== undefined && total > 0) report.progress(Math.min(received / total, 1));
        if (total === undefined || received >= total) report.log(`${formatBytes(received)} received.`);
      },
    };
  }
}

/** The space that a file takes; stat counts blocks of 512 bytes. */
const allocatedBytes = async (file: string): Promise<number> => (await stat(file)).blocks * 512;
