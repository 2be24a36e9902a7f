import { basename } from 'node:path';
import { DomainError, type TaskReporter } from '@headgate/domain-contracts';
import type { InstanceMetadata } from '../domain-xml/instance-metadata.js';
import type { PendingChange } from '../domain-xml/snapshot-metadata.js';
import { element, parseXml, text } from '../xml/xml.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { isRemote } from '../host/host.js';
import type { EditableDomain } from '../domains/domain-editor.js';
import { DiskUsage } from '../storage/disk-usage.js';
import type { QemuImg } from '../storage/qemu-img.js';
import { DiskChanges, withRole, type DiskChangesDeps } from './disk-changes.js';

export interface LayerMergerDeps extends DiskChangesDeps {
  readonly finder: DomainFinder;
  readonly images: Pick<QemuImg, 'commit' | 'rebase'>;
}

/** How often the progress of a merge is read. */
const JOB_INTERVAL_MS = 200;
/** libvirt needs a moment to notice that QEMU has ended, and QEMU to release its files. */
const MAX_FAILURES_IN_A_ROW = 50;
/** How long a change of another service is waited for. */
const MAX_WAIT_MS = 10 * 60_000;

interface Merge {
  readonly target: string;
  /** Name of the lower layer, which receives the changes. */
  readonly lower: string;
  /** Name of the layer above it. */
  readonly upper: string;
  readonly isActive: boolean;
}

type MergeStep = { readonly kind: 'merge'; readonly isLive: boolean } & Merge;

/** `wait` is for the end of a change that another service has begun. */
type Step = { readonly kind: 'remove'; readonly name: string } | { readonly kind: 'wait' } | MergeStep;

/**
 * Removes the layers of a domain that no snapshot needs. A layer without overlays is deleted, a layer with one overlay
 * is merged with it, and one with several overlays stays until there is only one. The changes of the overlay are
 * written into the layer below, so each step can be repeated after an interruption.
 */
export class LayerMerger {
  private readonly changes: DiskChanges;
  /** Whether layers of a domain that is not running can be merged: only by a program on the same machine. */
  readonly canMergeStopped: boolean;

  constructor(private readonly deps: LayerMergerDeps) {
    this.changes = new DiskChanges(deps);
    this.canMergeStopped = !isRemote(deps.connection.uri);
  }

  /** Callers keep other changes of the disks away, but do not hold the lock of the domain. */
  async clean(uuid: string, report: TaskReporter): Promise<void> {
    const { lock, clock } = this.deps;
    let waitsSince: number | undefined;
    let failures = 0;
    for (;;) {
      report.signal.throwIfAborted();
      try {
        const step = await lock.run(uuid, () => this.take(uuid, report));
        if (!step) return;
        if (step.kind === 'merge' && step.isLive) await this.finishLive(uuid, step, report);
        failures = 0;
        waitsSince = step.kind === 'wait' ? (waitsSince ?? clock.now()) : undefined;
        if (waitsSince === undefined) continue;
        if (clock.now() - waitsSince >= MAX_WAIT_MS)
          throw new DomainError(
            'CONFLICT',
            'Another service is changing the disks of this VM: delete the snapshot again.',
          );
      } catch (error) {
        // A VM that starts or stops ends a merge, which is planned again for its new state.
        if (!DomainError.is(error, 'WRONG_STATE', 'BUSY') || ++failures >= MAX_FAILURES_IN_A_ROW) throw error;
      }
      await clock.delay(JOB_INTERVAL_MS);
    }
  }

  /**
   * Takes the next step, or forgets the deleted snapshots if there is none. The record of a merge that could not begin
   * is removed.
   */
  private async take(uuid: string, report: TaskReporter): Promise<Step | undefined> {
    const next = await this.next(uuid);
    if (!next) await this.forget(uuid);
    else if (next.kind === 'remove') await this.remove(uuid, next.name);
    else if (next.kind === 'merge') {
      try {
        await (next.isLive ? this.beginLive(uuid, next, report) : this.mergeStopped(uuid, next, report));
      } catch (error) {
        await this.settleOwn(uuid).catch(() => undefined);
        throw error;
      }
    }
    return next;
  }

  private async settleOwn(uuid: string): Promise<void> {
    const { pending } = (await this.deps.editor.read(uuid)).description.metadata;
    if (pending?.kind === 'merge' && pending.service === this.deps.service()) await this.settle(uuid, pending);
  }

  /** Completes or forgets a merge that was interrupted. It is repeated if it has not finished. */
  async settle(uuid: string, { disks }: PendingChange): Promise<void> {
    const { editor, pool, connection } = this.deps;
    const domain = await editor.read(uuid);
    const [disk] = disks;
    const isRunningJob =
      disk !== undefined &&
      domain.isActive &&
      (await connection.blocks.job(uuid, disk.target).catch(ignoreStopped)) !== undefined;
    const isDone =
      disk !== undefined &&
      !isRunningJob &&
      !(await this.chainOf(domain, disk.target)).includes(`${await pool.path()}/${disk.replaced}`) &&
      (await this.chainOf(domain, disk.target)).includes(`${await pool.path()}/${disk.name}`);
    await editor.updateMetadata(uuid, ({ pending: _ended, ...metadata }) =>
      isDone ? withMerged(metadata, disk.replaced, disk.name) : metadata,
    );
  }

  private async next(uuid: string): Promise<Step | undefined> {
    const { editor, pool, connection, finder } = this.deps;
    const domain = await editor.read(uuid);
    const { metadata, disks } = domain.description;
    if (metadata.owner !== uuid) return undefined;
    if (metadata.pending !== undefined) return { kind: 'wait' };
    const needed = new Set(
      metadata.snapshots.filter(({ isDeleting }) => !isDeleting).flatMap((one) => one.disks.map(({ name }) => name)),
    );
    const present = new Set(disks.map(({ path }) => basename(path ?? '')));
    const owned = new Set(metadata.volumes.filter((volume) => volume.pool === pool.name).map(({ name }) => name));
    const unneeded = metadata.volumes.filter(
      ({ name, role }) => role === 'layer' && owned.has(name) && !needed.has(name) && !present.has(name),
    );
    if (unneeded.length === 0) return undefined;
    const folder = await pool.path();
    const overlays = await this.overlays();
    const usage = await DiskUsage.read(connection, finder);
    const isShared = (name: string): boolean => usage.isUsedByOthers(`${folder}/${name}`, uuid);
    for (const { name } of unneeded) {
      const above = overlays.get(`${folder}/${name}`) ?? [];
      const foreign = usage.overlaysOf(`${folder}/${name}`, uuid).filter((path) => !owned.has(basename(path)));
      if (isShared(name) || foreign.length > 0 || above.some((overlay) => !owned.has(overlay))) continue;
      const [upper, other] = above;
      if (upper === undefined) return { kind: 'remove', name };
      if (other !== undefined || isShared(upper) || (overlays.get(`${folder}/${upper}`) ?? []).length > 1) continue;
      const merge = await this.planMerge(domain, { lower: name, upper });
      if (merge) return merge;
    }
    return undefined;
  }

  private async planMerge(
    domain: EditableDomain,
    { lower, upper }: { readonly lower: string; readonly upper: string },
  ): Promise<Step | undefined> {
    const folder = await this.deps.pool.path();
    for (const { target, path } of domain.description.disks) {
      const chain = await this.chainOf(domain, target);
      if (!chain.includes(`${folder}/${upper}`)) continue;
      if (!domain.isActive && !this.canMergeStopped) return undefined;
      const isActive = path === `${folder}/${upper}`;
      return { kind: 'merge', lower, upper, target, isActive, isLive: domain.isActive };
    }
    // A branch that the VM does not use at the moment.
    return this.canMergeStopped
      ? { kind: 'merge', lower, upper, target: '', isActive: false, isLive: false }
      : undefined;
  }

  private async remove(uuid: string, name: string): Promise<void> {
    await this.deps.pool.remove(name);
    await this.deps.editor.updateMetadata(uuid, (metadata) => ({
      ...metadata,
      volumes: metadata.volumes.filter((volume) => volume.name !== name),
    }));
  }

  private async mergeStopped(uuid: string, merge: Merge, report: TaskReporter): Promise<void> {
    const { images, pool, editor } = this.deps;
    report.step('Merging a layer of the stopped VM');
    const folder = await pool.path();
    const [lower, upper] = [`${folder}/${merge.lower}`, `${folder}/${merge.upper}`];
    await this.record(uuid, merge);
    await images.commit(upper, lower);
    const merged = (metadata: InstanceMetadata): InstanceMetadata => withMerged(metadata, merge.upper, merge.lower);
    const disks = merge.isActive ? [{ target: merge.target, name: merge.lower }] : [];
    if (merge.isActive) return this.changes.redefine(uuid, { disks, metadata: merged });
    for (const overlay of (await this.overlays()).get(upper) ?? []) await images.rebase(`${folder}/${overlay}`, lower);
    await editor.updateMetadata(uuid, merged);
  }

  private async beginLive(
    uuid: string,
    { target, lower, upper, isActive }: Merge,
    report: TaskReporter,
  ): Promise<void> {
    const { connection, pool } = this.deps;
    const folder = await pool.path();
    report.step(`Merging a layer of the disk ${target}`);
    await this.record(uuid, { target, lower, upper, isActive });
    // An earlier run may have left the job.
    if (await connection.blocks.job(uuid, target)) return;
    const paths = { base: `${folder}/${lower}`, top: `${folder}/${upper}` };
    await connection.blocks.commit(uuid, { target, ...paths, isActive });
  }

  /** A VM that stops ends the job, which is then repeated. */
  private async finishLive(uuid: string, { target, isActive }: Merge, report: TaskReporter): Promise<void> {
    const { connection, clock, lock } = this.deps;
    for (;;) {
      report.signal.throwIfAborted();
      const job = await connection.blocks.job(uuid, target).catch(ignoreStopped);
      if (!job) break;
      if (job.end > 0) report.progress(Math.min(job.current / job.end, 1));
      if (isActive && job.end > 0 && job.current === job.end) {
        // A guest that writes much may have added changes meanwhile.
        const hasPivoted = await connection.blocks.pivot(uuid, target).then(() => true, ignoreBusy);
        if (hasPivoted) break;
      }
      await clock.delay(JOB_INTERVAL_MS);
    }
    await lock.run(uuid, () => this.settleOwn(uuid));
  }

  private async record(uuid: string, { target, lower, upper }: Merge): Promise<void> {
    const disks = [{ target, name: lower, replaced: upper }];
    await this.changes.begin(uuid, { kind: 'merge', snapshot: '', wasRunning: false, disks }, []);
  }

  /** Forgets the snapshots that were deleted, and removes what they have saved besides the disks. */
  private async forget(uuid: string): Promise<void> {
    const { editor, pool } = this.deps;
    const { metadata } = (await editor.read(uuid)).description;
    const deleted = metadata.snapshots.filter(({ isDeleting }) => isDeleting);
    if (deleted.length === 0) return;
    const states = new Set(
      deleted.flatMap(({ nvram, tpm, memory }) => [nvram, tpm, memory]).filter((name) => name !== undefined),
    );
    if (states.size > 0) await pool.volumes();
    for (const name of states) await pool.remove(name);
    await editor.updateMetadata(uuid, (current) => ({
      ...current,
      volumes: current.volumes.filter(({ name }) => !states.has(name)),
      snapshots: current.snapshots.filter(({ isDeleting }) => !isDeleting),
    }));
  }

  /** Names of the volumes that are based directly on each file, by its path. Includes those that no domain uses. */
  private async overlays(): Promise<Map<string, string[]>> {
    const { pool, connection } = this.deps;
    const [names, folder] = [await pool.volumes(), await pool.path()];
    const documents = await connection.storage.volumesAt(names.map((name) => `${folder}/${name}`));
    const overlays = new Map<string, string[]>();
    names.forEach((name, i) => {
      const xml = documents[i];
      const base = xml && text(element(element(parseXml(xml), 'volume'), 'backingStore'), 'path');
      if (base !== undefined && base !== '') overlays.set(base, [...(overlays.get(base) ?? []), name]);
    });
    return overlays;
  }

  /** Paths of the files of a disk, topmost first. */
  private async chainOf({ description }: EditableDomain, target: string): Promise<string[]> {
    const disk = description.disks.find((one) => one.target === target);
    if (disk?.path === undefined) return [];
    const below = new Map<string, string>();
    const folder = await this.deps.pool.path();
    for (const [base, names] of await this.overlays()) for (const name of names) below.set(`${folder}/${name}`, base);
    const chain: string[] = [];
    for (let path: string | undefined = disk.path; path !== undefined && !chain.includes(path); path = below.get(path))
      chain.push(path);
    return chain;
  }
}

/** The lower layer has the content of the upper one, which no longer belongs to any snapshot or disk. */
function withMerged({ pending: _done, ...metadata }: InstanceMetadata, upper: string, lower: string): InstanceMetadata {
  const role = metadata.volumes.find(({ name }) => name === upper)?.role ?? 'layer';
  const volumes = withRole(metadata.volumes, new Set([lower]), role);
  return {
    ...metadata,
    volumes: withRole(volumes, new Set([upper]), 'layer'),
    snapshots: metadata.snapshots.map((snapshot) => ({
      ...snapshot,
      disks: snapshot.disks.map((disk) =>
        disk.name === upper && !snapshot.isDeleting ? { ...disk, name: lower } : disk,
      ),
    })),
  };
}

function ignoreStopped(error: unknown): undefined {
  if (DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_FORBIDDEN', 'BACKEND_TIMEOUT')) throw error;
  return undefined;
}

function ignoreBusy(error: unknown): false {
  if (DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_FORBIDDEN')) throw error;
  return false;
}
