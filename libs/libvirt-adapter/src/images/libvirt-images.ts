import { copyFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  buildPlan,
  displayUrl,
  DomainError,
  formatBytes,
  IMAGE_PHASE,
  imageNotFound,
  ImportedImages,
  messageOf,
  ServiceShutdown,
  throwFirstRefusal,
  type BackgroundWork,
  type Clock,
  type ImageRef,
  type ImportedImage,
  type Log,
  type NewImage,
  type Plan,
  type PlannedImage,
  type Refusal,
  type ResumedImage,
  type TaskReporter,
} from '@headgate/domain-contracts';
import { maxImageBytes, openImage, parseImageUrl, SPACE_WATERMARK_BYTES, type Downloads } from '@headgate/downloads';
import type { WorkInProgress } from '../work-in-progress/work-in-progress.js';
import type { BaseReferences } from '../storage/base-references.js';
import { CONVERSION_STEPS, convertImage } from '../storage/convert-image.js';
import type { DiskUsage } from '../storage/disk-usage.js';
import type { JsonIndex } from '../storage/json-index.js';
import type { QemuImg } from '../storage/qemu-img.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { KeyedLock } from '../locks/concurrency.js';
import type { ImportedBases } from './imported-bases.js';

/** The facts about an image that its volume does not have. */
export interface ImageRecord {
  readonly bytes: number;
  readonly phase: string;
  readonly source: string;
  readonly createdAt: string;
  readonly reason?: string;
}

export interface LibvirtImagesDeps {
  readonly context: string;
  readonly namespace: string;
  readonly pool: Pick<
    StoragePool,
    'ensure' | 'has' | 'makePrivate' | 'name' | 'moveInto' | 'path' | 'remove' | 'space'
  >;
  readonly records: JsonIndex<ImageRecord>;
  readonly references: Pick<BaseReferences, 'read'>;
  readonly readUsage: () => Promise<Pick<DiskUsage, 'usersOf'>>;
  readonly progress: Pick<WorkInProgress, 'createFolder' | 'mark'>;
  readonly images: QemuImg;
  readonly downloads: Downloads;
  readonly lock: KeyedLock;
  readonly clock: Clock;
  readonly log: Log;
}

interface RunningImport {
  readonly cancel: AbortController;
  progress: number | null;
  /** Resolves when the work has stopped. */
  finished: Promise<unknown>;
}

const SERVICE_HEX_DIGITS = 8;
/** Steps of the task that are steps of the plan, too. */
const DOWNLOAD = 'Downloading the image';
const STORE = 'Storing the image';
/** Volumes of the imported images of all services that share the pool. */
const IMAGE_NAME = /^image-[0-9a-f]{8}-.+\.qcow2(?:\.partial)?$/;
const INTERRUPTED =
  'Its import was interrupted by a restart of the service. Delete the image and import it again: a download continues if the server allows it.';

const NO_URL =
  'Its import was interrupted by a restart of the service, which does not store addresses with a query. Delete the image and import it again.';

export const isImportedImage = (volume: string): boolean => IMAGE_NAME.test(volume);

/**
 * Imported images, as volumes in the storage pool. The disks of VMs are overlays of them, so an image is never changed.
 * A record is written before its volume exists: after an interruption it says that the volume is incomplete.
 */
export class LibvirtImages extends ImportedImages implements ImportedBases {
  private readonly running = new Map<string, RunningImport>();
  private isClosing = false;

  constructor(private readonly deps: LibvirtImagesDeps) {
    super();
  }

  override async list(): Promise<readonly ImportedImage[]> {
    const { context, namespace, records } = this.deps;
    return [...(await records.all())].map(([name, record]) => {
      const running = this.running.get(name);
      const isInterrupted = record.phase === IMAGE_PHASE.importing && !running;
      const progress = record.phase === IMAGE_PHASE.ready ? 1 : (running?.progress ?? null);
      return {
        ref: { context, namespace, name },
        ...record,
        progress,
        ...(isInterrupted && { phase: IMAGE_PHASE.failed, reason: INTERRUPTED }),
      };
    });
  }

  override async planImport({ ref, bytes, origin }: PlannedImage): Promise<Plan> {
    const { pool, records, downloads } = this.deps;
    const { name } = ref;
    const refusals: Refusal[] = [];
    const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
      void refusals.push({ code, reason, remedy });
    if ((await records.get(name)) !== undefined)
      refuse('ALREADY_EXISTS', `The image ${name} already exists.`, 'Delete it first, or choose another name.');
    if (origin.kind === 'url') {
      try {
        downloads.http.egress.checkLiteral(parseImageUrl(origin.url).url);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        refuse(error.code, error.message, 'Correct the URL.');
      }
    }
    if (!(await downloads.space.isAvailable()))
      refuse('INSUFFICIENT_STORAGE', 'The disk of this machine is almost full.', 'Free some space on this machine.');
    const space = await pool.space();
    if (space?.isActive && space.availableBytes < SPACE_WATERMARK_BYTES)
      refuse(
        'INSUFFICIENT_STORAGE',
        `The storage pool ${pool.name} has only ${formatBytes(space.availableBytes)} free.`,
        'Free some space on the machine of the storage pool.',
      );
    const get =
      origin.kind === 'url'
        ? {
            name: 'download',
            detail: `Download the image ${displayUrl(origin.url)}.`,
            reportedAs: [DOWNLOAD],
          }
        : { name: 'upload', detail: 'Receive the file of the image.' };
    return buildPlan(
      [
        get,
        {
          name: 'check',
          detail: 'Check that the image is a disk that refers to no other file.',
          reportedAs: [CONVERSION_STEPS.check],
        },
        {
          name: 'store',
          detail: `Store a disk of ${formatBytes(bytes)} as ${pool.name}/${this.volumeOf(name)}.`,
          reportedAs: [CONVERSION_STEPS.convert, STORE],
        },
      ],
      { refusals },
    );
  }

  override async import(image: NewImage): Promise<BackgroundWork> {
    const { lock, pool, clock } = this.deps;
    const { ref, bytes, origin } = image;
    const { name } = ref;
    return lock.run(lockKey(name), async () => {
      throwFirstRefusal(await this.planImport(image));
      await pool.ensure();
      const source = origin.kind === 'url' ? displayUrl(origin.url) : 'upload';
      const record = { bytes, phase: IMAGE_PHASE.importing, source, createdAt: clock.iso() };
      return this.begin(image, record);
    });
  }

  private async begin(image: NewImage, record: ImageRecord): Promise<BackgroundWork> {
    const { name } = image.ref;
    const running = { cancel: new AbortController(), progress: null, finished: Promise.resolve() };
    this.running.set(name, running);
    await this.deps.records.set(name, record);
    return (report) => {
      const work = this.fill(image, record, running, report);
      running.finished = work.catch(() => undefined);
      return work;
    };
  }

  override async resume({ ref, bytes, origin }: ResumedImage): Promise<BackgroundWork> {
    const { records, pool, lock } = this.deps;
    const { name } = ref;
    const begun = await lock.run(lockKey(name), async () => {
      const record = await records.get(name);
      if (record === undefined || this.running.has(name)) return undefined;
      if (record.phase === IMAGE_PHASE.ready) return async () => undefined;
      const reason = origin ? record.reason : NO_URL;
      if (reason !== undefined && reason !== INTERRUPTED) {
        await records.set(name, { ...record, phase: IMAGE_PHASE.failed, reason });
        throw new DomainError(origin ? 'BACKEND_FAILED' : 'INVALID_SOURCE', reason);
      }
      await pool.ensure();
      await pool.remove(this.volumeOf(name));
      const { reason: _interrupted, ...known } = record;
      return origin && this.begin({ ref, bytes, origin }, { ...known, phase: IMAGE_PHASE.importing });
    });
    if (begun) return begun;
    if (!origin) throw imageNotFound(ref);
    return this.import({ ref, bytes, origin });
  }

  override async planDelete(ref: ImageRef): Promise<Plan> {
    await this.expect(ref);
    const refusals = this.running.has(ref.name) ? [] : await this.deletionRefusals(ref.name);
    const cancel = this.running.has(ref.name) ? [{ name: 'cancel', detail: `Cancel the import of ${ref.name}.` }] : [];
    return buildPlan([...cancel, { name: 'delete', detail: `Remove the volume ${this.volumeOf(ref.name)}.` }], {
      refusals,
    });
  }

  override async delete(ref: ImageRef): Promise<void> {
    const { records, pool, lock } = this.deps;
    await this.expect(ref);
    const running = this.running.get(ref.name);
    running?.cancel.abort();
    await running?.finished;
    await lock.run(lockKey(ref.name), async () => {
      await this.expect(ref);
      const [refusal] = await this.deletionRefusals(ref.name);
      if (refusal) throw new DomainError(refusal.code, refusal.reason);
      await pool.remove(this.volumeOf(ref.name));
      await records.delete(ref.name);
      this.running.delete(ref.name);
    });
  }

  async bytesOf(name: string): Promise<number | undefined> {
    const record = await this.deps.records.get(name);
    return record?.phase === IMAGE_PHASE.ready ? record.bytes : undefined;
  }

  async use(
    name: string,
    work: (base: { path: string; format: 'qcow2'; bytes: number }) => Promise<void>,
  ): Promise<void> {
    const { namespace, lock, pool } = this.deps;
    await lock.run(lockKey(name), async () => {
      const bytes = await this.bytesOf(name);
      if (bytes === undefined) throw imageNotFound({ namespace, name });
      await work({ path: `${await pool.path()}/${this.volumeOf(name)}`, format: 'qcow2', bytes });
    });
  }

  /** Removes what imports of an earlier run have left, which was killed. Never fails. */
  async sweep(): Promise<void> {
    const { records, pool, lock, log } = this.deps;
    const all = await records.all();
    await pool
      .makePrivate([...all].map(([name]) => this.volumeOf(name)))
      .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'the modes of images could not be changed'));
    for (const [name, record] of all) {
      if (record.phase !== IMAGE_PHASE.importing || this.running.has(name)) continue;
      log.warn({ image: name }, 'the import of an image was interrupted');
      await lock
        .run(lockKey(name), async () => {
          // Its task may have continued it meanwhile.
          if (this.running.has(name)) return;
          await pool.remove(this.volumeOf(name));
          await records.set(name, { ...record, phase: IMAGE_PHASE.failed, reason: INTERRUPTED });
        })
        .catch((error: unknown) =>
          log.warn({ image: name, reason: messageOf(error) }, 'an image could not be removed'),
        );
    }
  }

  /** Cancels all imports because the service stops. */
  async close(): Promise<void> {
    this.isClosing = true;
    for (const { cancel } of this.running.values()) cancel.abort();
    await Promise.all([...this.running.values()].map(({ finished }) => finished));
  }

  private async fill(
    { ref: { name }, bytes, origin }: NewImage,
    record: ImageRecord,
    running: RunningImport,
    report: TaskReporter,
  ): Promise<void> {
    const { records, pool, progress, images, downloads } = this.deps;
    const signal = AbortSignal.any([report.signal, running.cancel.signal]);
    const volume = this.volumeOf(name);
    let folder: string | undefined;
    try {
      signal.throwIfAborted();
      folder = await progress.createFolder();
      const source = join(folder, 'source');
      if (origin.kind === 'upload') await moveFile(origin.file, source);
      else await this.download(origin, source, { bytes, running, report, signal });
      const options = { folder, maxBytes: bytes, images, space: downloads.space };
      const disk = await convertImage(source, { ...options, report: { step: (step) => report.step(step), signal } });
      if (disk.bytes < bytes) await images.grow(disk.file, bytes);
      report.step(STORE);
      await pool.moveInto(volume, disk.file, { signal, watermarkBytes: SPACE_WATERMARK_BYTES });
      signal.throwIfAborted();
      await records.set(name, { ...record, phase: IMAGE_PHASE.ready });
      report.log(`The image ${name} is ready.`);
    } catch (error) {
      await this.fail(name, record, signal.reason instanceof ServiceShutdown ? signal.reason : error, running);
      throw signal.aborted && !(error instanceof DomainError)
        ? new DomainError('CONFLICT', `The import of ${name} was canceled.`)
        : error;
    } finally {
      this.running.delete(name);
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    }
  }

  /** A failed import keeps its record with the reason. `delete` removes the record of one that it has canceled. */
  private async fail(name: string, record: ImageRecord, error: unknown, { cancel }: RunningImport): Promise<void> {
    const { records, pool, log } = this.deps;
    if (cancel.signal.aborted && !this.isClosing) return;
    const reason = this.isClosing || error instanceof ServiceShutdown ? INTERRUPTED : messageOf(error);
    try {
      await pool.remove(this.volumeOf(name));
      await records.set(name, { ...record, phase: IMAGE_PHASE.failed, reason });
    } catch (problem) {
      log.warn({ image: name, reason: messageOf(problem) }, 'a failed image could not be removed');
    }
  }

  private async download(
    { url, checksum }: Extract<NewImage['origin'], { kind: 'url' }>,
    file: string,
    {
      bytes,
      running,
      report,
      signal,
    }: { bytes: number; running: RunningImport; report: TaskReporter; signal: AbortSignal },
  ): Promise<void> {
    report.step(DOWNLOAD);
    const { http, space, partials } = this.deps.downloads;
    const source = checksum === undefined ? url : `${url.split('#')[0]}#${checksum}`;
    const image = await openImage(http, source, signal);
    await image.save(file, {
      maxBytes: maxImageBytes(bytes),
      space,
      partials,
      onBytes: (received, total) => {
        if (total === undefined || total === 0) return;
        running.progress = Math.min(received / total, 1);
        report.progress(running.progress);
      },
    });
  }

  private async expect(ref: ImageRef): Promise<void> {
    const isKnown = ref.namespace === this.deps.namespace && (await this.deps.records.get(ref.name)) !== undefined;
    if (!isKnown) throw imageNotFound(ref);
  }

  private async deletionRefusals(name: string): Promise<Refusal[]> {
    const { pool, readUsage, references } = this.deps;
    const volume = this.volumeOf(name);
    if (!(await pool.has(volume))) return [];
    const users = (await readUsage()).usersOf(`${await pool.path()}/${volume}`);
    if (users.length === 0 && !(await references.read()).has(volume)) return [];
    const who = users.length > 0 ? users.join(', ') : 'another volume';
    return [
      {
        code: 'BUSY',
        reason: `The image ${name} is needed by ${who}, whose disk is based on it.`,
        remedy: 'Delete those VMs first.',
      },
    ];
  }

  private volumeOf(name: string): string {
    return `image-${this.deps.progress.mark().replaceAll('-', '').slice(0, SERVICE_HEX_DIGITS)}-${name}.qcow2`;
  }
}

const lockKey = (name: string): string => `image ${name}`;

/** Moves a file, also to another file system. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(from, to);
    await rm(from, { force: true });
  }
}
