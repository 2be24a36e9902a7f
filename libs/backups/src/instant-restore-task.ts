import {
  DomainError,
  messageOf,
  parseRef,
  type Clock,
  type DiskIngest,
  type IngestTarget,
  type InstantRestore,
  type ProofDisk,
  type ResourceMapping,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskDefinition,
  type TaskJournal,
} from '@headgate/domain-contracts';
import { VARIABLES_PATH } from './backup-point.js';
import type { ReadingLock } from './backup-store.js';
import type { FillInput, RestoreTaskDeps } from './fill-task.js';
import { findPoint, findTarget } from './find-target.js';
import { portableOf, readManifest } from './restored-vm.js';
import { openDisks } from './stored-disk.js';

/** The journaled input. Without secrets. */
export interface InstantRestoreInput extends FillInput {
  /** A UUID that identifies the new VM. */
  readonly id: string;
  /** The ref of the new VM, as text. */
  readonly destination: string;
  readonly mapping: ResourceMapping;
  readonly keepsMacs: boolean;
}

export interface InstantRestoreTaskDeps extends RestoreTaskDeps {
  readonly clock: Clock;
}

/** The result of the task. */
interface Restored {
  readonly copiedBytes: number;
  /** From the request until the guest ran. Absent after a restart of the service. */
  readonly startMs?: number;
}

interface OpenedPoint {
  readonly lock: ReadingLock;
  readonly disks: readonly ProofDisk[];
}

const MINUTE_MS = 60_000;
const RETRY_MS = 5000;
/** The backup will not come back. */
const GONE = ['BACKUP_TARGET_NOT_FOUND', 'BACKUP_POINT_NOT_FOUND'] as const;

/**
 * Builds a VM from a point and starts it immediately: its guest reads the rest from the backup. Once its guest runs,
 * the task can't be undone, and only ends when all is copied, the VM is deleted, or the backup no longer exists.
 */
export class InstantRestoreTask implements TaskDefinition<InstantRestoreInput> {
  readonly kind = 'instant-restore';

  constructor(private readonly deps: InstantRestoreTaskDeps) {}

  steps(): readonly StepDefinition<InstantRestoreInput>[] {
    const ifStalled = 'Look for the VM before you restore it again.';
    return [
      {
        name: 'reserve',
        isCancelable: true,
        stallMs: 15 * MINUTE_MS,
        waitsFor: 'the destination to reserve the disks',
        ifStalled,
        run: (context) => this.reserve(context),
      },
      {
        name: 'copy',
        isCancelable: true,
        outlivesRestarts: true,
        weight: 20,
        stallMs: 30 * MINUTE_MS,
        waitsFor: 'the copy of the disks',
        ifStalled,
        run: (context) => this.run(context, (reason) => context.commit(reason)),
      },
    ];
  }

  async resume({ input, steps }: TaskJournal<InstantRestoreInput>, { log }: TaskContext): Promise<Resumption> {
    const { ingest, instant, target } = this.receiver(input);
    const state = await instant.state(target);
    const last = steps.at(-1);
    log(`The service was restarted at the step ${last?.name ?? 'reserve'}; the VM is ${state}.`);
    // Disks may be missing.
    if (last?.name === 'reserve' && !last.isFinished && state === 'blank') await ingest.discard(target);
    return { action: 'continue' };
  }

  /** A guest that ran keeps what it has written, so its disks are completed instead. */
  async rollback({ input }: TaskJournal<InstantRestoreInput>, context: TaskContext): Promise<void> {
    const { ingest, instant, target } = this.receiver(input);
    const state = await instant.state(target);
    if (state === 'running') {
      context.log('The VM has run, so it is not removed. The rest of its disks is copied.');
      await this.run({ ...context, input }, async () => undefined);
      return;
    }
    if (state === 'blank') await ingest.discard(target);
    await instant.discard(target);
    context.log(state === 'complete' ? 'The VM is complete and stays.' : 'The incomplete VM was removed.');
  }

  result({ input, steps }: TaskJournal<InstantRestoreInput>): object {
    return { destination: input.destination, ...(steps.find(({ name }) => name === 'copy')?.result as object) };
  }

  private async reserve({ input, log }: StepContext<InstantRestoreInput>): Promise<void> {
    const { ingest, target } = this.receiver(input);
    const store = await this.deps.stores.open(findTarget(this.deps.targets, input.target));
    const manifest = await readManifest(store, input.point);
    const losses = await ingest.begin({ ...target, vm: portableOf(manifest, input), mapping: input.mapping });
    for (const { what } of losses) log(`The VM is without this: ${what}`);
    if (!input.copiesFirmwareVariables) return;
    const variables = await store.openFile(input.point, VARIABLES_PATH);
    await ingest.writeFirmwareVariables(target, await variables.read(0, variables.sizeBytes));
  }

  /** @param starting before the guest runs for the first time */
  private async run(
    context: TaskContext & { readonly input: InstantRestoreInput },
    starting: (reason: string) => Promise<void>,
  ): Promise<Restored> {
    const { input, log, bytes, signal } = context;
    const { instant, target } = this.receiver(input);
    const { clock } = this.deps;
    const begun = clock.now();
    let [copiedBytes, attempts] = [0, 0];
    let startMs: number | undefined;
    const waits = (reason: string): void => {
      context.isDelayed?.();
      // The number makes each attempt a sign of life.
      context.waitsFor(`the backup. ${reason} Attempt ${(attempts += 1)}`);
    };
    for (;;) {
      signal.throwIfAborted();
      const state = await instant.state(target);
      if (state === 'absent' || state === 'complete') return await this.end(context, { state, copiedBytes, startMs });
      const opened = await this.open(input).catch((error: unknown) => {
        // Nothing is lost before the guest has run.
        if (state !== 'running') throw error;
        if (DomainError.is(error, ...GONE)) throw gone(target, error);
        waits(messageOf(error));
      });
      if (!opened) {
        await clock.delay(RETRY_MS, signal);
        continue;
      }
      const lost = opened.lock.signal;
      try {
        await instant.run(
          { ...target, disks: opened.disks },
          {
            starting: () => starting(`${target.ref.name} runs from the backup: delete the VM to end its restore.`),
            started: () => {
              startMs = clock.now() - begun;
              log(`${target.ref.name} runs in ${target.ref.context} after ${(startMs / 1000).toFixed(1)} s.`);
            },
            copied: (done, total) => {
              copiedBytes = done;
              bytes(done, total);
              context.waitsFor('the copy of the disks');
            },
            waits,
          },
          AbortSignal.any([signal, lost]),
        );
      } catch (error) {
        signal.throwIfAborted();
        if (!lost.aborted) throw error;
        waits('The lock of the target was lost.');
      } finally {
        await opened.lock.release().catch(() => undefined);
      }
    }
  }

  private async end(
    { input, log }: TaskContext & { readonly input: InstantRestoreInput },
    { state, copiedBytes, startMs }: Restored & { readonly state: 'absent' | 'complete' },
  ): Promise<Restored> {
    const { instant, target } = this.receiver(input);
    await instant.discard(target);
    log(
      state === 'absent'
        ? `${target.ref.name} was deleted meanwhile.`
        : `All of the disks of ${target.ref.name} was copied: it needs the backup no longer.`,
    );
    return { copiedBytes, ...(startMs !== undefined && { startMs }) };
  }

  private async open({ target, point }: InstantRestoreInput): Promise<OpenedPoint> {
    const store = await this.deps.stores.open(findTarget(this.deps.targets, target));
    const lock = await store.lockForReading();
    try {
      await findPoint(store, point);
      return { lock, disks: await openDisks(store, point, await readManifest(store, point)) };
    } catch (error) {
      await lock.release().catch(() => undefined);
      throw error;
    }
  }

  private receiver({ id, destination }: InstantRestoreInput): {
    readonly ingest: DiskIngest;
    readonly instant: InstantRestore;
    readonly target: IngestTarget;
  } {
    const ref = parseRef(destination);
    const backend = this.deps.backends.get(ref.context);
    return {
      ingest: backend.require('diskIngest'),
      instant: backend.require('instantRestore'),
      target: { id, ref },
    };
  }
}

const gone = ({ ref }: IngestTarget, cause: unknown): DomainError =>
  new DomainError(
    'BACKUP_POINT_NOT_FOUND',
    `${ref.name} needs a backup that no longer exists: ${messageOf(cause)} Save what its guest still shows, delete the VM, and restore another backup.`,
    { cause },
  );
