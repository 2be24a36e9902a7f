import { DomainError, type InstanceRef, type TaskReporter } from '@headgate/domain-contracts';
import { isOutcomeUnknown, KubeApiError } from '../api/kube-api-error.js';
import { conditionOf, isTrue, type KubeObject } from '../api/kube-object.js';
import type { DataVolumeObject, MigrationObject } from '../api/object-types.js';
import { MIGRATIONS, VIRTUAL_MACHINES } from '../api/resources.js';
import { isMigrating, migratesAutomatically } from '../hardware/live-changes.js';
import { readVmState, type HardwareDeps, type VmState } from '../hardware/vm-hardware.js';
import { LABEL } from '../labels.js';
import { failureOf } from '../migration/follow-migration.js';
import { presentNodeProblem } from '../migration/target-pod.js';
import { namesVolume, restoration, sourceClaim, type MoveRecord } from './move-record.js';

/** A disk on its way to a new volume. */
export interface MovingDisk {
  readonly ref: InstanceRef;
  readonly target: DataVolumeObject;
  readonly record: MoveRecord;
}

const POLL_MS = 250;
/** KubeVirt begins within a moment, or reports why it can't. */
const BEGIN_TIMEOUT_MS = 60_000;
const CANCEL_TIMEOUT_MS = 120_000;
/** How long KubeVirt may take to report that the end of a guest has interrupted the copy of its disk. */
const DOUBT_LIMIT_MS = 15_000;
const MAX_DOUBTS = 1000;
/** How long KubeVirt may take to end the change of a guest whose migration has succeeded. */
const SETTLE_LIMIT_MS = 15_000;
/** The label that KubeVirt puts on migrations. */
const VMI_LABEL = 'kubevirt.io/vmi-name';
const CHANGE = 'VolumesChange';
const THE_COPY = 'the copy of the disk';

/** Follows KubeVirt's migration of a running guest to a new volume, and cancels it. */
export class VolumeMigration {
  /**
   * Since when it is unknown whether a volume is complete. Kept after the end of the doubt, so that an undo and a
   * rollback don't wait for KubeVirt's report once more.
   */
  private readonly doubts = new Map<string, number>();

  constructor(private readonly deps: HardwareDeps) {}

  /** Resolves when the guest uses the new volume. @throws DomainError when it can't, or the migration fails */
  async untilMoved(disk: MovingDisk, report: TaskReporter): Promise<void> {
    const { ref, record } = disk;
    const { clock } = this.deps;
    const began = clock.now();
    let hasBegun = false;
    let phase = '';
    let problem: string | undefined;
    let failedBefore: ReadonlySet<string> | undefined;
    let copiedAt: number | undefined;
    report.step(`Copying ${record.volume.name} to ${record.storage}`);
    for (;;) {
      report.signal.throwIfAborted();
      const isDone = await ignoreOutage(async () => {
        const state = await readVmState(this.deps, ref);
        if (isMoved(state, disk)) return true;
        expectNamed(state, disk);
        const migrations = await this.migrationsOf(ref);
        if (!isSameRun(state, disk)) return this.hasEndedWell(state, disk, migrations);
        failedBefore ??= new Set(migrations.filter(hasFailed).map(({ metadata }) => metadata.uid ?? ''));
        const failed = migrations.find((one) => hasFailed(one) && !failedBefore?.has(one.metadata.uid ?? ''));
        if (failed) throw migrationFailed(ref, await failureOf(this.deps.api, failed));
        const active = migrations.find((one) => !isOver(one));
        // The guest was read before the migrations, and may be on the new volume by now.
        if (haveCopied(migrations, disk)) copiedAt ??= clock.now();
        const isSettling = copiedAt !== undefined && clock.now() - copiedAt < SETTLE_LIMIT_MS;
        if (isChanging(state)) {
          hasBegun = true;
          if (!active && !isSettling && !migratesAutomatically(state)) await this.startMigration(state);
        } else if (!hasBegun) {
          expectAccepted(state);
          if (clock.now() - began > BEGIN_TIMEOUT_MS)
            throw new DomainError('BACKEND_FAILED', `KubeVirt has not begun to move the disk of ${ref.name}.`);
        }
        const now = active?.status?.phase ?? '';
        if (now !== '' && now !== phase) report.log(`Migration of ${ref.name}: ${now}`);
        phase = now || phase;
        const obstacle = active && (await presentNodeProblem(this.deps.api, active));
        if (obstacle !== problem) report.waitsFor?.(obstacle ? `${THE_COPY}: ${obstacle}` : THE_COPY);
        if (obstacle !== undefined && obstacle !== problem) report.log(`${ref.name}: ${obstacle}`);
        problem = obstacle;
        return false;
      });
      if (isDone) return;
      await clock.delay(POLL_MS);
    }
  }

  /**
   * Lets the VM use its old volume again.
   * @returns `moved` if the guest uses the new volume already: then nothing is changed
   * @throws DomainError when the new volume may still be in use
   */
  async cancel(disk: MovingDisk): Promise<'moved' | 'canceled'> {
    const { ref } = disk;
    const { clock } = this.deps;
    const began = clock.now();
    for (;;) {
      const outcome = await ignoreOutage(() => this.tryCancel(disk));
      if (outcome !== undefined) return outcome;
      if (clock.now() - began > CANCEL_TIMEOUT_MS)
        throw new DomainError('BACKEND_TIMEOUT', `${ref.name} still uses the new volume.`);
      await clock.delay(POLL_MS);
    }
  }

  /** @returns undefined while the cancellation is under way */
  private async tryCancel(disk: MovingDisk): Promise<'moved' | 'canceled' | undefined> {
    const { ref, target, record } = disk;
    const state = await readVmState(this.deps, ref);
    if (isMoved(state, disk)) return 'moved';
    const { name = '' } = target.metadata;
    const isRunning = isSameRun(state, disk);
    // A migration that ends at this moment would leave the guest on the new volume.
    if (isRunning && isChanging(state) && (await this.stopMigrations(ref))) return undefined;
    if (namesVolume(state.spec.volumes, record.volume.name, name)) {
      if (!isRunning && !needsRecovery(state))
        return (await this.hasEndedWell(state, disk, await this.migrationsOf(ref))) ? 'moved' : undefined;
      const patch = restoration(state.vm, record, name, isRunning);
      await this.deps.api.jsonPatch(VIRTUAL_MACHINES, ref, patch).catch((error: unknown) => {
        // Another client has changed the VM meanwhile.
        if (!KubeApiError.has(error, 422)) throw error;
      });
      return undefined;
    }
    const isUsed = namesVolume(state.vmi?.spec?.volumes, record.volume.name, name);
    if (!isUsed && !isChanging(state)) return 'canceled';
    if (isUsed && !isRunning)
      throw new DomainError(
        'WRONG_STATE',
        `${ref.name} was started with the new volume ${name}: restart it, and delete that volume.`,
      );
    return undefined;
  }

  /**
   * Whether the disk was copied before the guest that used the old volume ended.
   * @returns false while KubeVirt may still report that
   * @throws DomainError WRONG_STATE if the copy is incomplete, or nothing proves that it is not
   */
  private async hasEndedWell(
    state: VmState,
    disk: MovingDisk,
    migrations: readonly MigrationObject[],
  ): Promise<boolean> {
    const { ref, record, target } = disk;
    if (needsRecovery(state))
      throw new DomainError('WRONG_STATE', `${ref.name} was stopped while its disk was being moved.`);
    if (haveCopied(migrations, disk)) return true;
    const name = target.metadata.name ?? '';
    if (this.deps.clock.now() - this.doubtSince(name) < DOUBT_LIMIT_MS) return false;
    throw new DomainError(
      'WRONG_STATE',
      `${ref.name} was stopped while its disk was being moved, and nothing shows whether the copy is complete: compare ${sourceClaim(record)} with ${name}, and let the VM use the right one.`,
    );
  }

  private doubtSince(volume: string): number {
    const began = this.doubts.get(volume) ?? this.deps.clock.now();
    this.doubts.set(volume, began);
    const [oldest] = this.doubts.keys();
    if (this.doubts.size > MAX_DOUBTS && oldest !== undefined) this.doubts.delete(oldest);
    return began;
  }

  /** Deletes the running migrations of the VM, which cancels them. @returns whether there were some */
  private async stopMigrations(ref: InstanceRef): Promise<boolean> {
    const active = (await this.migrationsOf(ref)).filter((one) => !isOver(one));
    for (const { metadata } of active) {
      if (metadata.deletionTimestamp === undefined)
        await this.deps.api.delete(
          MIGRATIONS,
          { namespace: ref.namespace, name: metadata.name },
          { uid: metadata.uid },
        );
    }
    return active.length > 0;
  }

  private migrationsOf({ namespace, name }: InstanceRef): Promise<MigrationObject[]> {
    return this.deps.api.list<MigrationObject>(MIGRATIONS, { namespace, labelSelector: `${VMI_LABEL}=${name}` });
  }

  /** KubeVirt does this itself only where its configuration says so. */
  private async startMigration({ ref, vmi }: VmState): Promise<void> {
    const { namespace, name } = ref;
    // KubeVirt considers disks that it copies as migratable, a moment after the change.
    if (conditionOf(vmi?.status?.conditions, 'LiveMigratable')?.status === 'False') return;
    const metadata = { generateName: `move-disk-${name}-`, namespace, labels: { [LABEL.vm]: name } };
    try {
      await this.deps.api.create(MIGRATIONS, { metadata, spec: { vmiName: name } } as KubeObject);
    } catch (error) {
      if (!(error instanceof KubeApiError) || !/in-flight migration detected/.test(error.response.text)) throw error;
    }
  }
}

const isOver = ({ status }: MigrationObject): boolean => ['Succeeded', 'Failed'].includes(status?.phase ?? '');
const hasFailed = ({ status }: MigrationObject): boolean => status?.phase === 'Failed';

/** Whether a migration has succeeded since the new volume was created. */
const haveCopied = (migrations: readonly MigrationObject[], { target }: MovingDisk): boolean =>
  migrations.some(
    ({ metadata, status }) =>
      status?.phase === 'Succeeded' && (metadata.creationTimestamp ?? '') >= (target.metadata.creationTimestamp ?? ''),
  );

/** Whether KubeVirt has prepared the running guest for the move. */
const isChanging = ({ vmi }: VmState): boolean =>
  isTrue(vmi?.status?.conditions, CHANGE) || (vmi?.status?.migratedVolumes ?? []).length > 0;

/** Whether the guest still runs that used the old volume when the move began. */
const isSameRun = ({ vmi }: VmState, { record }: MovingDisk): boolean => vmi?.metadata.uid === record.instance;

/** Whether KubeVirt reports that the end of the guest has interrupted the copy of its disk. */
const needsRecovery = ({ vm, vmi }: VmState): boolean =>
  isTrue(vm.status?.conditions, 'ManualRecoveryRequired') || (!vmi && isTrue(vm.status?.conditions, CHANGE));

/** Whether the guest, which still runs, uses the copy. */
function isMoved(state: VmState, disk: MovingDisk): boolean {
  const { target, record } = disk;
  const isUsed = namesVolume(state.vmi?.spec?.volumes, record.volume.name, target.metadata.name ?? '');
  return isUsed && isSameRun(state, disk) && !isChanging(state) && !isMigrating(state);
}

/** @throws DomainError when another client lets the VM use another volume */
function expectNamed({ ref, spec }: VmState, { target, record }: MovingDisk): void {
  if (!namesVolume(spec.volumes, record.volume.name, target.metadata.name ?? ''))
    throw new DomainError(
      'CONFLICT',
      `${ref.name} was changed to use ${sourceClaim(record)} again, or another volume.`,
    );
}

/** @throws DomainError with KubeVirt's reason for not moving the disk */
function expectAccepted({ ref, vm, vmi }: VmState): void {
  const { conditions } = vm.status ?? {};
  const restart = conditionOf(conditions, 'RestartRequired');
  const failure = conditionOf(conditions, 'Failure');
  const change = conditionOf(vmi?.status?.conditions, CHANGE);
  const isRefused =
    restart?.status === 'True' || (failure?.status === 'True' && failure.reason === 'VolumesUpdateError');
  const reason = restart?.status === 'True' ? restart.message : isRefused ? failure?.message : change?.message;
  if (isRefused || (change?.status === 'False' && change.message))
    throw new DomainError(
      'REJECTED_BY_BACKEND',
      `KubeVirt does not move the disk of ${ref.name}: ${reason ?? 'it gave no reason'}.`,
    );
}

const migrationFailed = ({ name }: InstanceRef, reason: string | undefined): DomainError =>
  new DomainError(
    'BACKEND_FAILED',
    `The migration of ${name} that copies its disk failed: ${reason || 'KubeVirt gave no reason'}.`,
  );

/** The cluster continues on its own while it does not answer. @returns undefined then */
async function ignoreOutage<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isOutcomeUnknown(error)) return undefined;
    throw error;
  }
}
