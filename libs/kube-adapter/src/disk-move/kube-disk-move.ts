import { randomBytes } from 'node:crypto';
import {
  DiskMove,
  DomainError,
  formatBytes,
  messageOf,
  ServiceShutdown,
  throwFirstRefusal,
  type BackgroundWork,
  type DiskMoveRequest,
  type InstanceRef,
  type Log,
  type Plan,
  type TaskReporter,
} from '@headgate/domain-contracts';
import type { ClaimObject, DataVolumeObject } from '../api/object-types.js';
import { CLAIMS, DATA_VOLUMES, VIRTUAL_MACHINES } from '../api/resources.js';
import { isTestFailure } from '../hardware/planned-change.js';
import { claimNameOf, findDataVolume, readVmState, type HardwareDeps } from '../hardware/vm-hardware.js';
import { VolumeWaits } from '../hardware/volumes/volume-waits.js';
import { ANNOTATION, LABEL } from '../labels.js';
import { claimUser } from '../provisioning/create-checks.js';
import { DiskMovePlans, type PreparedMove } from './disk-move-plans.js';
import {
  destination,
  isOwnedBy,
  namesVolume,
  recordOf,
  redirection,
  sourceClaim,
  type MoveRecord,
} from './move-record.js';
import { VolumeMigration, type MovingDisk } from './volume-migration.js';

export interface KubeDiskMoveDeps extends HardwareDeps {
  readonly log: Log;
}

/** Phases of an empty DataVolume that a migration can fill. */
const FILLABLE = ['Succeeded', 'PendingPopulation'];

/**
 * Moves disks between storage classes with KubeVirt's volume migration: the VM gets a new volume, and a live migration
 * copies the disk to it. The new volume has a record of the move until it is complete, so that nothing is lost or left
 * over by an interruption.
 */
export class KubeDiskMove extends DiskMove {
  private readonly plans: DiskMovePlans;
  private readonly waits: VolumeWaits;
  private readonly migration: VolumeMigration;
  /** The uids of the VMs whose disks are being moved. */
  private readonly moving = new Set<string>();

  constructor(private readonly deps: KubeDiskMoveDeps) {
    super();
    this.plans = new DiskMovePlans(deps);
    this.waits = new VolumeWaits(deps);
    this.migration = new VolumeMigration(deps);
  }

  override async plan(ref: InstanceRef, request: DiskMoveRequest): Promise<Plan> {
    return (await this.plans.prepare(ref, request)).plan;
  }

  override async move(ref: InstanceRef, request: DiskMoveRequest): Promise<BackgroundWork> {
    const { plan, state } = await this.plans.prepare(ref, request);
    throwFirstRefusal(plan);
    const uid = state.vm.metadata.uid ?? '';
    this.expectFree(ref, uid);
    return (report) =>
      this.hold(ref, uid, async () => {
        report.signal.throwIfAborted();
        const prepared = await this.plans.prepare(ref, request);
        throwFirstRefusal(prepared.plan);
        await this.begin(ref, prepared, report);
      });
  }

  override async resume(ref: InstanceRef, request: DiskMoveRequest): Promise<BackgroundWork> {
    const { vm } = await readVmState(this.deps, ref);
    return (report) =>
      this.hold(ref, vm.metadata.uid ?? '', async () => {
        const state = await readVmState(this.deps, ref);
        const volumes = await this.deps.api.list<DataVolumeObject>(DATA_VOLUMES, {
          namespace: ref.namespace,
          labelSelector: `${LABEL.vm}=${ref.name}`,
        });
        for (const target of volumes) {
          const record = recordOf(target);
          if (!record || ![sourceClaim(record), record.volume.name].includes(request.volume)) continue;
          const disk: MovingDisk = { ref, target, record };
          if (namesVolume(state.spec.volumes, record.volume.name, target.metadata.name ?? ''))
            return this.follow(disk, report);
          await this.undo(disk, report);
          break;
        }
        const { plan } = await this.plans.prepare(ref, request);
        const isMoved =
          plan.refusals.some(({ code }) => code === 'DEVICE_NOT_FOUND') || (await this.isIn(ref, request));
        if (!isMoved) throw interrupted(ref, request);
      });
  }

  private expectFree({ name }: InstanceRef, uid: string): void {
    if (this.moving.has(uid)) throw new DomainError('BUSY', `A disk of ${name} is being moved already.`);
  }

  private async hold(ref: InstanceRef, uid: string, work: () => Promise<void>): Promise<void> {
    this.expectFree(ref, uid);
    this.moving.add(uid);
    try {
      await work();
    } finally {
      this.moving.delete(uid);
    }
  }

  /** Whether a disk that is named by its device is in the storage class. */
  private async isIn(ref: InstanceRef, { volume, storage }: DiskMoveRequest): Promise<boolean> {
    const { spec } = await readVmState(this.deps, ref);
    const found = spec.volumes?.find(({ name }) => name === volume);
    const name = found && claimNameOf(found);
    const claim =
      name === undefined
        ? undefined
        : await this.deps.api.find<ClaimObject>(CLAIMS, { namespace: ref.namespace, name });
    return claim?.spec?.storageClassName === storage;
  }

  private async begin(ref: InstanceRef, { state, move }: PreparedMove, report: TaskReporter): Promise<void> {
    if (!move) return;
    const { api } = this.deps;
    const { namespace } = ref;
    const name = `${ref.name}-disk-${randomBytes(4).toString('hex')}`.slice(-63).replace(/^-+/, '');
    report.step(`Creating a volume in ${move.record.storage}`);
    const bytes = formatBytes(move.bytes);
    const target = await api.create<DataVolumeObject>(
      DATA_VOLUMES,
      destination({ namespace, vm: ref.name, name, bytes }, move.record),
    );
    const disk: MovingDisk = { ref, target, record: move.record };
    try {
      await this.expectFillable(disk);
      report.signal.throwIfAborted();
      await api.jsonPatch(VIRTUAL_MACHINES, ref, redirection(state.vm, move.record, target));
    } catch (error) {
      // The response to the patch may have been lost.
      await this.undo(disk, report);
      if (!isTestFailure(error)) throw error;
      throw new DomainError('CONFLICT', `${ref.name} was changed at the same time; try again.`, { cause: error });
    }
    await this.follow(disk, report);
  }

  /** @throws DomainError when KubeVirt can't copy a disk to the volume */
  private async expectFillable({ target, record }: MovingDisk): Promise<void> {
    const { api } = this.deps;
    const { namespace = '', name = '' } = target.metadata;
    await this.waits.untilReady(target);
    const phase = (await api.find<DataVolumeObject>(DATA_VOLUMES, { namespace, name }))?.status?.phase ?? '';
    if (FILLABLE.includes(phase)) return;
    if (phase === 'WaitForFirstConsumer')
      throw new DomainError(
        'NOT_SUPPORTED',
        `KubeVirt can't move disks to ${record.storage}: its volumes wait for their first consumer, and it has no CSI driver.`,
      );
    throw new DomainError(
      'BACKEND_TIMEOUT',
      `The new volume in ${record.storage} is not ready: it is ${phase || 'not created'}.`,
    );
  }

  private async follow(disk: MovingDisk, report: TaskReporter): Promise<void> {
    const { signal } = report;
    try {
      await this.migration.untilMoved(disk, report);
    } catch (failure) {
      // The cluster continues, and the task with it after the next start of the service.
      if (signal.reason instanceof ServiceShutdown) throw failure;
      if ((await this.undo(disk, report)) === 'undone') throw signal.aborted ? signal.reason : failure;
      report.log('The copy was complete already.');
    }
    await this.finish(disk, report);
  }

  /** Lets the VM use its old volume again, and deletes the new one, unless the guest uses that already. */
  private async undo(disk: MovingDisk, report: TaskReporter): Promise<'moved' | 'undone'> {
    const { ref, target } = disk;
    try {
      report.log('Undoing the move.');
      if ((await this.migration.cancel(disk)) === 'moved') return 'moved';
      await this.deps.api.delete(
        DATA_VOLUMES,
        { namespace: ref.namespace, name: target.metadata.name },
        { uid: target.metadata.uid },
      );
    } catch (error) {
      this.deps.log.warn(
        { vm: ref.name, volume: target.metadata.name, reason: messageOf(error) },
        'a move of a disk could not be undone',
      );
      report.log(`The new volume ${target.metadata.name} is kept: ${messageOf(error)}`);
    }
    return 'undone';
  }

  /**
   * Whether the old volume belongs to the VM and to no other: the record alone, which others may write, does not
   * decide.
   */
  private async mayDelete(ref: InstanceRef, record: MoveRecord): Promise<boolean> {
    const { api } = this.deps;
    const path = { namespace: ref.namespace, name: sourceClaim(record) };
    const [{ vm }, claim, dataVolume] = await Promise.all([
      readVmState(this.deps, ref),
      api.find<ClaimObject>(CLAIMS, path),
      findDataVolume(api, path),
    ]);
    const objects = [claim, dataVolume].filter((one) => one !== undefined);
    return objects.some((one) => isOwnedBy(one, vm)) && !(claim && (await claimUser(api, claim)) !== undefined);
  }

  /** Deletes the old volume if it belonged to the VM. The guest uses the new one. */
  private async finish({ ref, target, record }: MovingDisk, report: TaskReporter): Promise<void> {
    const { api, log } = this.deps;
    const { namespace } = ref;
    const name = sourceClaim(record);
    const { owned } = record;
    if (owned && (await this.mayDelete(ref, record))) {
      report.step('Deleting the old volume');
      await api.delete(owned.kind === 'DataVolume' ? DATA_VOLUMES : CLAIMS, { namespace, name }, { uid: owned.uid });
    } else report.log(`The old volume ${name} is kept.`);
    const annotations = { [ANNOTATION.diskMove]: null };
    await api.patch(DATA_VOLUMES, { namespace, name: target.metadata.name }, { metadata: { annotations } });
    report.progress(1);
    log.info({ vm: ref.name, from: name, to: target.metadata.name, storage: record.storage }, 'moved a disk');
  }
}

const interrupted = ({ name }: InstanceRef, { volume }: DiskMoveRequest): DomainError =>
  new DomainError(
    'BACKEND_FAILED',
    `The move of ${volume} was interrupted before ${name} was changed: it is where it was.`,
  );
