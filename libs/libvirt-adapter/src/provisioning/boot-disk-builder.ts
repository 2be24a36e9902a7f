import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  openContainerDisk,
  openCloudImage,
  openImage,
  type Downloads,
  type OpenImage,
  MAX_ISO_BYTES,
  maxImageBytes,
} from '@headgate/downloads';
import { DomainError, formatBytes, type VmSpec } from '@headgate/domain-contracts';
import type { ImportedBases } from '../images/imported-bases.js';
import type { BaseFormat, BaseImage, BaseImages, StoredFile } from '../storage/base-images.js';
import { checkFits, convertImage } from '../storage/convert-image.js';
import { checkIso } from '../storage/disk-image.js';
import type { QemuImg } from '../storage/qemu-img.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { cloudImageOf, containerDiskOf, importedName, TASK_STEPS } from './creation-steps.js';

/** Receives the progress of building a disk. */
export interface DiskProgress {
  readonly signal: AbortSignal;
  step(name: string): void;
  log(line: string): void;
  progress(fraction: number): void;
  isDelayed?(): void;
}

export interface DiskRequest {
  readonly spec: VmSpec;
  /** The guest architecture as libvirt names it. */
  readonly arch: string;
  /** A private folder that the caller removes afterwards. */
  readonly folder: string;
  readonly disk: string;
  /** The pool of the disk. Its base images and the ISO are in that of the service. */
  readonly diskPool: Pick<StoragePool, 'createOverlay' | 'createBlank'>;
  /** Volume of the installation ISO, for a source of kind `iso`. */
  readonly cdrom: string;
}

export interface BootDiskBuilderDeps {
  readonly pool: StoragePool;
  readonly bases: BaseImages;
  readonly images: QemuImg;
  readonly downloads: Downloads;
  readonly imported: ImportedBases;
  readonly tinyGuest?: () => Promise<string>;
}

/** Creates the volumes of a new domain from its source: overlays of base images, which are stored once. */
export class BootDiskBuilder {
  private readonly localDigests = new Map<string, string>();

  constructor(private readonly deps: BootDiskBuilderDeps) {}

  async build(request: DiskRequest, report: DiskProgress): Promise<void> {
    const { spec, disk, diskPool, cdrom } = request;
    const { pool } = this.deps;
    if (spec.source.kind === 'pvc') return;
    const image = importedName(spec.source);
    if (image !== undefined) {
      await this.deps.imported.use(image, async (base) => {
        checkFits(base.bytes, spec.diskBytes);
        report.step(TASK_STEPS.disk);
        await diskPool.createOverlay(disk, spec.diskBytes, base);
      });
      return;
    }
    if (spec.source.kind === 'iso') {
      await this.withBase(request, report, (base) => pool.createOverlay(cdrom, base.bytes, base));
      await diskPool.createBlank(disk, spec.diskBytes);
      return;
    }
    await this.withBase(request, report, async (base) => {
      checkFits(base.bytes, spec.diskBytes);
      report.step(TASK_STEPS.disk);
      await diskPool.createOverlay(disk, spec.diskBytes, base);
    });
  }

  /** Gets the image of the source, from the cache if possible, and keeps it there during the work. */
  private async withBase(
    request: DiskRequest,
    report: DiskProgress,
    work: (base: BaseImage) => Promise<void>,
  ): Promise<void> {
    const { bases } = this.deps;
    for (let isDone = false; !isDone;) {
      report.signal.throwIfAborted();
      const image = await this.open(request, report);
      const name = image.identity === undefined ? undefined : bases.nameOf(image.identity, formatOf(request));
      if (name === undefined) return this.withUnversioned(image, { request, report, work });
      isDone = await bases.hold(name, async () => {
        const base = await this.findOrBuild(name, image, { request, report });
        if (base) await work(base);
        return base !== undefined;
      });
    }
  }

  /** @returns undefined if another creation was fetching the image and failed */
  private async findOrBuild(name: string, image: OpenImage, context: Context): Promise<BaseImage | undefined> {
    const { bases } = this.deps;
    const { signal } = context.report;
    try {
      const found = await bases.find(name);
      if (found) context.report.log('The image is in the cache.');
      if (found) return found;
      if (bases.isBuilding(name)) {
        context.report.step('Waiting for another VM that fetches the same image');
        context.report.isDelayed?.();
        return await bases.awaitBuild(name, signal);
      }
      const make = async (): Promise<StoredFile> => this.prepare((await this.save(image, context)).file, context);
      return await bases.build(name, make, signal);
    } finally {
      image.discard();
    }
  }

  /** Without a version, only the downloaded content identifies the image. */
  private async withUnversioned(
    image: OpenImage,
    { work, ...context }: Context & { work: (base: BaseImage) => Promise<void> },
  ): Promise<void> {
    const { bases } = this.deps;
    const { signal } = context.report;
    const { file, digest } = await this.save(image, context);
    const name = bases.nameOf(`sha256:${digest}`, formatOf(context.request));
    await bases.hold(name, async () => {
      const existing = (await bases.awaitBuild(name, signal)) ?? (await bases.find(name));
      await work(existing ?? (await bases.build(name, () => this.prepare(file, context), signal)));
    });
  }

  private async open({ spec, arch }: DiskRequest, report: DiskProgress): Promise<OpenImage> {
    const { source } = spec;
    const { http } = this.deps.downloads;
    const { signal } = report;
    if (source.kind === 'import' || source.kind === 'iso') return openImage(http, source.url, signal);
    if (source.kind === 'image' && source.entry.builtLocally !== undefined && this.deps.tinyGuest) {
      report.step(TASK_STEPS.build);
      return this.openLocal(await this.deps.tinyGuest());
    }
    if (source.kind === 'bootc' && source.disk !== undefined) return this.openLocal(source.disk);
    const cloudImage = cloudImageOf(source, arch);
    if (cloudImage) {
      report.step('Reading the checksum of the image');
      return openCloudImage(http, cloudImage, signal);
    }
    if (source.kind !== 'image' && source.kind !== 'containerDisk')
      throw new DomainError('NOT_SUPPORTED', "A disk can't be created from this source.");
    return openContainerDisk({ http, image: containerDiskOf(source), arch, signal });
  }

  /** A file of this machine, which is used where it is. */
  private async openLocal(path: string): Promise<OpenImage> {
    const { size, mtimeMs } = await stat(path);
    const version = `${path} ${size} ${mtimeMs}`;
    const digest = this.localDigests.get(version) ?? (await digestOf(path));
    this.localDigests.set(version, digest);
    return { identity: `sha256:${digest}`, path, discard: () => undefined, save: () => Promise.resolve(digest) };
  }

  private async save(
    image: OpenImage,
    { request: { spec, folder }, report }: Context,
  ): Promise<{ file: string; digest: string }> {
    const isIso = spec.source.kind === 'iso';
    if (image.path === undefined) report.step(isIso ? TASK_STEPS.downloadIso : TASK_STEPS.download);
    const file = image.path ?? join(folder, 'source');
    const digest = await image.save(file, {
      maxBytes: isIso ? MAX_ISO_BYTES : maxImageBytes(spec.diskBytes),
      space: this.deps.downloads.space,
      partials: this.deps.downloads.partials,
      onBytes: (received, total) => {
        if (total !== undefined && total > 0) report.progress(Math.min(received / total, 1));
        if (total === undefined || received >= total) report.log(`${formatBytes(received)} received.`);
      },
    });
    return { file, digest };
  }

  /** Checks an image from an unknown origin, and converts it to a new qcow2 file in the private folder. */
  private async prepare(file: string, { request, report }: Context): Promise<StoredFile> {
    const { folder, spec } = request;
    if (spec.source.kind === 'iso') {
      report.step('Checking the image');
      await checkIso(file);
      return { file, bytes: (await stat(file)).size };
    }
    const { images, downloads } = this.deps;
    return convertImage(file, { folder, maxBytes: spec.diskBytes, images, space: downloads.space, report });
  }
}

interface Context {
  readonly request: DiskRequest;
  readonly report: DiskProgress;
}

/** Installation ISOs stay as they are. */
const formatOf = ({ spec }: DiskRequest): BaseFormat => (spec.source.kind === 'iso' ? 'raw' : 'qcow2');

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
