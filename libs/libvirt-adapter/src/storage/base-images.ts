import { createHash } from 'node:crypto';
import { DomainError, messageOf, type Clock, type Log } from '@headgate/domain-contracts';
import type { BaseImageIndex } from './base-image-index.js';
import type { BaseReferences } from './base-references.js';
import type { StoragePool } from './storage-pool.js';

export interface BaseImage {
  /** Name of its volume. */
  readonly name: string;
  readonly path: string;
  readonly format: BaseFormat;
  /** The virtual size. */
  readonly bytes: number;
}

/** `raw` is an installation ISO. */
export type BaseFormat = 'qcow2' | 'raw';

/** An image that is ready to be stored. */
export interface StoredFile {
  /** Path of a complete file in a private folder, which is moved where possible. */
  readonly file: string;
  readonly bytes: number;
}

export interface BaseImagesDeps {
  readonly pool: Pick<StoragePool, 'has' | 'makePrivate' | 'moveInto' | 'path' | 'remove' | 'volumes'>;
  readonly index: BaseImageIndex;
  readonly references: Pick<BaseReferences, 'read'>;
  /** The identity of this service, which is part of the names of its images. */
  readonly service: () => string;
  readonly clock: Clock;
  readonly log: Log;
  /** Free space that a copy into the pool leaves for its other volumes. */
  readonly watermarkBytes: number;
}

/** Unused images are kept for the next VM. */
const KEEP_UNUSED_MS = 7 * 24 * 60 * 60_000;
const ID_HEX_DIGITS = 40;
const SERVICE_HEX_DIGITS = 8;
/** Names of the base images of all services that share the pool. */
const BASE_NAME = /^base-[0-9a-f]{8}-[0-9a-f]{40}\.(?:qcow2|iso)(?:\.partial)?$/;

export const isBaseImage = (volume: string): boolean => BASE_NAME.test(volume);

/**
 * The images on which the disks of VMs are based, in the storage pool: each is stored once, under a name that is
 * derived from its content or from its source and version. The disks are overlays, so an image is never changed. Images
 * that nothing refers to are removed when they have not been used for a week, or when space is needed.
 */
export class BaseImages {
  /** How many creations use an image that has no overlay yet. */
  private readonly holds = new Map<string, number>();
  /** The number of the latest hold of each image, and of all. */
  private readonly latestHolds = new Map<string, number>();
  private holdCount = 0;
  /** Images that are being stored. */
  private readonly building = new Map<string, Promise<BaseImage>>();
  /** Images that are being removed. */
  private readonly removing = new Map<string, Promise<void>>();

  constructor(private readonly deps: BaseImagesDeps) {}

  /** The name of the volume for an image. @param identity of its content */
  nameOf(identity: string, format: BaseFormat): string {
    const id = createHash('sha256').update(identity).digest('hex').slice(0, ID_HEX_DIGITS);
    return `${this.ownPrefix()}${id}.${format === 'raw' ? 'iso' : 'qcow2'}`;
  }

  /** Keeps an image from being removed while the work creates an overlay of it. */
  async hold<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.holds.set(name, (this.holds.get(name) ?? 0) + 1);
    this.latestHolds.set(name, ++this.holdCount);
    try {
      await this.removing.get(name)?.catch(() => undefined);
      return await work();
    } finally {
      const left = (this.holds.get(name) ?? 1) - 1;
      if (left === 0) this.holds.delete(name);
      else this.holds.set(name, left);
    }
  }

  /** The image of a name; undefined if it has to be built. The caller holds the name. */
  async find(name: string): Promise<BaseImage | undefined> {
    const { index, pool, clock } = this.deps;
    const entry = await index.get(name);
    if (!entry || !(await pool.has(name))) return undefined;
    await index.set(name, { ...entry, lastUsed: clock.now() });
    return this.imageOf(name, entry.bytes);
  }

  /** The image that another creation is storing under a name. Waiting for it ends with the signal. */
  async awaitBuild(name: string, signal: AbortSignal): Promise<BaseImage | undefined> {
    const build = this.building.get(name);
    if (!build) return undefined;
    signal.throwIfAborted();
    const finished = new AbortController();
    const aborted = new Promise<undefined>((resolve) =>
      signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: finished.signal }),
    );
    const image = await Promise.race([build.catch(() => undefined), aborted]).finally(() => finished.abort());
    signal.throwIfAborted();
    return image;
  }

  isBuilding(name: string): boolean {
    return this.building.has(name);
  }

  /** Stores an image that does not exist yet. Concurrent creations can wait for it. The caller holds the name. */
  build(name: string, make: () => Promise<StoredFile>, signal: AbortSignal): Promise<BaseImage> {
    const build = this.store(name, make, signal).finally(() => this.building.delete(name));
    // Waiting creations handle the failure by trying themselves.
    build.catch(() => undefined);
    this.building.set(name, build);
    return build;
  }

  private async store(name: string, make: () => Promise<StoredFile>, signal: AbortSignal): Promise<BaseImage> {
    const { pool, index, references, clock, watermarkBytes } = this.deps;
    const { file, bytes } = await make();
    // Either a part of an interrupted transfer, or a complete image whose entry was lost.
    if ((await pool.has(name)) && !(await references.read()).has(name)) await pool.remove(name);
    if (!(await pool.has(name))) await pool.moveInto(name, file, { signal, watermarkBytes });
    await index.set(name, { bytes, lastUsed: clock.now() });
    return this.imageOf(name, bytes);
  }

  /**
   * Removes images of this service that have not been used for long, and parts of interrupted transfers. Never fails.
   */
  async sweep(): Promise<void> {
    await this.removeUnused(KEEP_UNUSED_MS).catch((error: unknown) =>
      this.deps.log.warn({ reason: messageOf(error) }, 'unused base images could not be removed'),
    );
  }

  /**
   * Removes all images of this service that nothing refers to.
   * @returns how many
   */
  reclaim(): Promise<number> {
    return this.removeUnused(0);
  }

  /**
   * Takes over layers of a VM that is being deleted, which clones still need. They are removed as soon as nothing
   * refers to them.
   */
  async adoptLayers(names: readonly string[]): Promise<void> {
    for (const name of names) await this.deps.index.set(name, { bytes: 0, lastUsed: 0, isLayer: true });
  }

  private async removeUnused(keepMs: number): Promise<number> {
    const { pool, index, references, clock, log } = this.deps;
    const names = await pool.volumes().catch((error: unknown) => {
      if (DomainError.is(error, 'VOLUME_NOT_FOUND')) return [];
      throw error;
    });
    const layers = new Set(await index.layers());
    const own = names.filter((name) => layers.has(name) || (isBaseImage(name) && name.startsWith(this.ownPrefix())));
    if (own.length === 0) return 0;
    await pool.makePrivate(own);
    // A hold after this moment may have created an overlay that the references below lack.
    const holdsBefore = this.holdCount;
    const used = await references.read();
    let removed = 0;
    for (const name of own) {
      const entry = await index.get(name);
      const isExpired = !entry || clock.now() - entry.lastUsed >= keepMs;
      const isHeld = this.isBusy(name) || (this.latestHolds.get(name) ?? 0) > holdsBefore;
      if (!isExpired || isHeld || used.has(name)) continue;
      const removal = this.remove(name).finally(() => this.removing.delete(name));
      this.removing.set(name, removal);
      await removal;
      removed++;
      log.info({ volume: name }, 'removed an unused base image');
    }
    return removed;
  }

  /** Without its entry, an image that is left by an interruption counts as incomplete. */
  private async remove(name: string): Promise<void> {
    await this.deps.index.delete(name);
    await this.deps.pool.remove(name);
  }

  private isBusy(name: string): boolean {
    return this.holds.has(name) || this.building.has(name);
  }

  private async imageOf(name: string, bytes: number): Promise<BaseImage> {
    const path = `${await this.deps.pool.path()}/${name}`;
    return { name, path, format: name.endsWith('.iso') ? 'raw' : 'qcow2', bytes };
  }

  private ownPrefix(): string {
    return `base-${this.deps.service().replaceAll('-', '').slice(0, SERVICE_HEX_DIGITS)}-`;
  }
}
