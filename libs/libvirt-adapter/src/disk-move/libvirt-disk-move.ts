import {
  DiskMove,
  DomainError,
  messageOf,
  throwFirstRefusal,
  type BackgroundWork,
  type DiskMoveRequest,
  type InstanceRef,
  type Plan,
  type TaskReporter,
} from '@headgate/domain-contracts';
import { describeDomain, type DomainDescription } from '../domain-xml/domain-description.js';
import type { InstanceMetadata } from '../domain-xml/instance-metadata.js';
import type { PendingChange } from '../domain-xml/snapshot-metadata.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { Slots } from '../locks/concurrency.js';
import type { DiskChangesDeps } from '../snapshots/disk-changes.js';
import type { DiskHolds } from '../locks/disk-holds.js';
import { DiskMovePlans, type PreparedMove } from './disk-move-plans.js';

export interface LibvirtDiskMoveDeps extends DiskChangesDeps {
  readonly finder: DomainFinder;
  readonly holds: DiskHolds;
}

/** How often the progress of a copy is read. */
const JOB_INTERVAL_MS = 250;

/**
 * Moves disks between storage pools: libvirt copies the disk while the guest uses it, and then lets the guest use the
 * copy. The metadata of the domain lists the new volume before it is created, so that nothing is lost or left over by
 * an interruption.
 */
export class LibvirtDiskMove extends DiskMove {
  private readonly plans: DiskMovePlans;
  private readonly recoveries = new Set<Promise<void>>();
  private readonly recoverySlots = new Slots(1);

  constructor(private readonly deps: LibvirtDiskMoveDeps) {
    super();
    this.plans = new DiskMovePlans(deps);
  }

  override async plan(ref: InstanceRef, request: DiskMoveRequest): Promise<Plan> {
    return (await this.plans.prepare(await this.deps.finder.find(ref), request)).plan;
  }

  override async move(ref: InstanceRef, request: DiskMoveRequest): Promise<BackgroundWork> {
    const { finder, holds } = this.deps;
    const id = await finder.find(ref);
    throwFirstRefusal((await this.plans.prepare(id, request)).plan);
    holds.expectFree(id);
    return (report) =>
      holds.run(id, async () => {
        const prepared = await this.plans.prepare(id, request, true);
        throwFirstRefusal(prepared.plan);
        await this.run(prepared, report);
      });
  }

  override async resume(ref: InstanceRef, request: DiskMoveRequest): Promise<BackgroundWork> {
    const id = await this.deps.finder.find(ref);
    return async (report) => {
      report.step('Completing or undoing the move');
      // The recovery has begun when the domains were listed.
      await this.close();
      if ((await this.plans.poolOf(id, request.volume)) === request.storage) return;
      throw new DomainError('BACKEND_FAILED', `The move of ${request.volume} was interrupted: it is where it was.`);
    };
  }

  /** Completes or undoes a move that the end of an earlier run has interrupted. */
  recover({ uuid, name, metadata }: DomainDescription): void {
    const { holds, service, log } = this.deps;
    const { pending } = metadata;
    if (metadata.owner !== uuid || pending?.kind !== 'move') return;
    if (pending.service !== service() || holds.has(uuid)) return;
    const work = this.recoverySlots
      .run(() => holds.run({ uuid, name }, () => this.settle(uuid)))
      .catch((error: unknown) =>
        log.warn({ domain: name, reason: messageOf(error) }, 'an interrupted move of a disk could not be recovered'),
      );
    this.recoveries.add(work);
    void work.finally(() => this.recoveries.delete(work));
  }

  /** Resolves when no recovery runs. */
  async close(): Promise<void> {
    await Promise.all(this.recoveries);
  }

  private async run({ id, disk, volume, pool }: PreparedMove, report: TaskReporter): Promise<void> {
    const { connection, editor, lock, service, clock, log } = this.deps;
    const { blocks, storage } = connection;
    report.signal.throwIfAborted();
    await lock.run(id.uuid, () =>
      editor.updateMetadata(id.uuid, (metadata) => {
        if (metadata.pending)
          throw new DomainError('BUSY', `Another change of the disks of ${id.name} is in progress.`);
        const pending: PendingChange = {
          kind: 'move',
          service: service(),
          startedAt: clock.iso(),
          snapshot: disk.pool,
          wasRunning: true,
          target: pool.name,
          disks: [{ target: disk.target, name: disk.name, replaced: disk.name }],
        };
        return { ...metadata, pending };
      }),
    );
    let isCreated = false;
    try {
      report.step(`Copying ${disk.target} to ${pool.name}`);
      await storage.createVolume(pool.name, volume.xml);
      isCreated = true;
      await blocks.copy(id.uuid, { target: disk.target, path: volume.path, format: disk.format });
      await this.finish(id.uuid, disk.target, report);
    } catch (failure) {
      await this.settle(id.uuid, isCreated);
      throw report.signal.aborted ? report.signal.reason : failure;
    }
    report.step('Removing the old volume');
    await this.settle(id.uuid);
    log.info({ domain: id.name, disk: disk.target, pool: pool.name }, 'moved a disk');
  }

  /** @throws DomainError WRONG_STATE when the VM stops, which ends the copy */
  private async finish(uuid: string, target: string, report: TaskReporter): Promise<void> {
    const { clock, connection } = this.deps;
    const { blocks } = connection;
    for (;;) {
      report.signal.throwIfAborted();
      const job = await blocks.job(uuid, target);
      if (!job)
        throw new DomainError(
          'BACKEND_FAILED',
          `The copy of ${target} ended early, for example because the storage is full.`,
        );
      if (job.end > 0) report.progress(Math.min(job.current / job.end, 1));
      if (job.end > 0 && job.current === job.end) {
        // A guest that writes much may have added changes meanwhile.
        const hasPivoted = await blocks.pivot(uuid, target).then(() => true, ignoreBusy);
        if (hasPivoted) return;
      }
      await clock.delay(JOB_INTERVAL_MS);
    }
  }

  /**
   * Removes the old volume of a disk that was moved, and the new one of any other.
   * @param isCreated whether the new volume may be this service's; another program may have created one of the same
   *   name first
   */
  private async settle(uuid: string, isCreated = true): Promise<void> {
    const { connection, editor, lock } = this.deps;
    await lock.run(uuid, async () => {
      const { description, isActive } = await editor.read(uuid);
      const { pending } = description.metadata;
      const [disk] = pending?.disks ?? [];
      if (pending?.kind !== 'move' || disk === undefined || pending.target === undefined) return;
      // An earlier run may have left the job.
      if (isActive) await connection.blocks.cancel(uuid, disk.target);
      const [path] = await connection.storage.volumePaths([{ pool: pending.target, name: disk.name }]);
      const isMoved = path !== undefined && (await this.uses(uuid, disk.target, path));
      const unused = isMoved ? pending.snapshot : pending.target;
      if (isCreated && path !== undefined) await this.remove(unused, disk.name);
      await editor.updateMetadata(uuid, ({ pending: _done, ...metadata }) =>
        isMoved ? withPool(metadata, disk.name, { from: pending.snapshot, to: pending.target ?? '' }) : metadata,
      );
    });
  }

  /**
   * Whether the domain uses the file, in its running and in its persistent configuration alike.
   * @throws DomainError WRONG_STATE if only one of them does: then neither file may be removed
   */
  private async uses(uuid: string, target: string, path: string): Promise<boolean> {
    const { editor, connection } = this.deps;
    const live = (await editor.read(uuid)).description;
    const next = describeDomain(await connection.domains.persistentXml(uuid));
    const [now, later] = [live, next].map(({ disks }) =>
      disks.some((disk) => disk.target === target && disk.path === path),
    );
    if (now === later) return now === true;
    const message = `The disk ${target} of ${live.name} has another file now than at its next start: correct one of them with virsh.`;
    throw new DomainError('WRONG_STATE', message);
  }

  private async remove(pool: string, name: string): Promise<void> {
    try {
      await this.deps.connection.storage.deleteVolume({ pool, name });
    } catch (error) {
      if (!DomainError.is(error, 'VOLUME_NOT_FOUND')) throw error;
    }
  }
}

const withPool = (
  metadata: InstanceMetadata,
  volume: string,
  { from, to }: { readonly from: string; readonly to: string },
): InstanceMetadata => ({
  ...metadata,
  volumes: metadata.volumes.map((one) => (one.name === volume && one.pool === from ? { ...one, pool: to } : one)),
});

function ignoreBusy(error: unknown): false {
  if (DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_FORBIDDEN')) throw error;
  return false;
}
