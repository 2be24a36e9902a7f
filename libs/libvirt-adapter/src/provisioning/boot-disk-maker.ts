import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError, formatBytes, type VmSpec } from '@headgate/domain-contracts';
import { downloadImage } from '../fetching/download-image.js';
import type { HttpGet } from '../fetching/http-get.js';
import type { BytesListener } from '../fetching/progress.js';
import { pullContainerDisk } from '../fetching/pull-container-disk.js';
import { inspectImage } from '../storage/disk-image.js';
import type { QemuImg } from '../storage/qemu-img.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { containerDiskOf } from './creation-steps.js';

/** What is told while a disk is made. */
export interface DiskReport {
  readonly signal: AbortSignal;
  step(name: string): void;
  log(line: string): void;
  progress(fraction: number): void;
}

export interface DiskOrder {
  readonly spec: VmSpec;
  /** The machine's architecture in libvirt's words. */
  readonly arch: string;
  /** A private folder that is removed afterwards. */
  readonly folder: string;
  readonly disk: string;
  /** Volume of the installation disc, for a source of kind `iso`. */
  readonly cdrom: string;
}

/** Fills the volumes of a new machine from where its source says. */
export class BootDiskMaker {
  constructor(
    private readonly pool: StoragePool,
    private readonly images: QemuImg,
    private readonly http: HttpGet,
    private readonly tinyGuest: (() => Promise<string>) | undefined,
  ) {}

  async make(order: DiskOrder, report: DiskReport): Promise<void> {
    const { spec, folder, disk, cdrom } = order;
    const { source } = spec;
    if (source.kind === 'pvc') return;
    if (source.kind === 'iso') {
      const disc = join(folder, 'disc.iso');
      report.step('Downloading the disc');
      await downloadImage(this.http, source.url, disc, this.listening(report));
      report.step('Storing the disc');
      await this.pool.createFrom(cdrom, disc, report);
      await this.pool.createBlank(disk, spec.diskBytes);
      return;
    }
    const image = await this.fetch(order, report);
    await this.store(image, spec, folder, disk, report);
  }

  /** @returns the path of the image as it came */
  private async fetch({ spec: { source }, arch, folder }: DiskOrder, report: DiskReport): Promise<string> {
    const file = join(folder, 'source');
    if (source.kind === 'import') {
      report.step('Downloading the image');
      await downloadImage(this.http, source.url, file, this.listening(report));
      return file;
    }
    if (source.kind === 'image' && source.entry.builtLocally !== undefined && this.tinyGuest) {
      report.step('Building the image');
      return this.tinyGuest();
    }
    if (source.kind !== 'image' && source.kind !== 'containerDisk')
      throw new DomainError('NOT_SUPPORTED', 'This source makes no disk.');
    report.step('Pulling the container disk');
    await pullContainerDisk(this.http, containerDiskOf(source), arch, file, this.listening(report));
    return file;
  }

  private async store(
    image: string,
    { diskBytes }: VmSpec,
    folder: string,
    disk: string,
    report: DiskReport,
  ): Promise<void> {
    report.step('Checking the image');
    const found = await inspectImage(image);
    await this.images.check(image, found);
    if (found.bytes > diskBytes) {
      throw new DomainError(
        'INVALID_QUANTITY',
        `disk must be at least ${formatBytes(found.bytes)}: that is the size of the image.`,
      );
    }
    report.step('Converting the image');
    const converted = join(folder, 'disk.qcow2');
    await this.images.convert(image, found, converted, report.signal);
    // The room is needed for the copy in the pool.
    if (image.startsWith(folder)) await rm(image, { force: true });
    if (diskBytes > found.bytes) await this.images.grow(converted, diskBytes);
    report.step('Storing the disk');
    await this.pool.createFrom(disk, converted, report);
  }

  private listening(report: DiskReport): { signal: AbortSignal; onBytes: BytesListener } {
    return {
      signal: report.signal,
      onBytes: (received, total) => {
        if (total !== undefined && total > 0) report.progress(Math.min(received / total, 1));
        if (total === undefined || received >= total) report.log(`${formatBytes(received)} received.`);
      },
    };
  }
}
