import {
  DomainError,
  isVm,
  messageOf,
  type Audit,
  type BackendDirectory,
  type Clock,
  type InstanceDirectory,
  type InstanceRef,
  type Loss,
  type PortableVm,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskJournal,
} from '@headgate/domain-contracts';
import { rootHash } from '../disks/compare-disks.js';
import { hashVariables } from '../disks/firmware-variables.js';
import { tenths } from '../estimates/promise-downtime.js';
import type { ShutdownEstimates } from '../estimates/shutdown-estimates.js';
import type { InstanceRecords } from '../instance-records.js';
import type { MoveInput } from '../move-input.js';
import { MoveEnds } from './move-ends.js';
import { PATIENCE } from './patience.js';
import { LIST_TIMEOUT_MS, untilListed } from './until-listed.js';

export interface CopyStepsDeps {
  readonly directory: InstanceDirectory;
  readonly backends: BackendDirectory;
  readonly records: InstanceRecords;
  readonly audit: Audit;
  readonly shutdowns: ShutdownEstimates;
  readonly clock: Clock;
}

/** A disk that the destination has reserved. */
export interface ReservedDisk {
  readonly name: string;
  readonly sizeBytes: number;
}

/** The result of the step `reserve`. */
interface Reserved {
  readonly disks: readonly ReservedDisk[];
  /** Properties that the copy turned out not to get. Absent in journals of earlier releases. */
  readonly losses?: readonly Loss[];
}

/** The result of the comparison. */
export interface Verified {
  /** Hash of the content by disk. */
  readonly hashes: Readonly<Record<string, string>>;
  /** Hash of the variables of the firmware, if they were copied. */
  readonly variablesHash?: string;
}

/** What the shared steps have journaled for the result of the task. */
interface MoveTimes {
  /** Absent if the guest was stopped already. */
  readonly stoppedAtMs?: number;
  readonly shutdownSeconds?: number;
  readonly committedAtMs: number;
}

/** Empty if the guest was stopped when the step began. */
type StoppedGuest = Pick<MoveTimes, 'shutdownSeconds'>;
/** Nothing in the journal of an earlier release, which always forgot the source. */
interface CarriedOver {
  readonly isCarriedOver?: boolean;
}
type Committed = Pick<MoveTimes, 'committedAtMs'>;

/** The guest may need as long as its backend waits for it. */
const STOP_TIMEOUT_MS = 180_000;
const START_TIMEOUT_MS = 90_000;

/**
 * The steps that cold and warm moves share, and how a move that copies is resumed and undone. Until `commit`,
 * everything can be undone; afterwards the move goes on, whatever happens.
 */
export class CopySteps {
  readonly reserve: StepDefinition<MoveInput> = {
    name: 'reserve',
    isCancelable: true,
    ...PATIENCE.reserve,
    run: (context) => this.reserveCopy(context),
  };
  readonly stop: StepDefinition<MoveInput> = {
    name: 'stop',
    isCancelable: true,
    ...PATIENCE.stop,
    params: () => ({ stoppedAtMs: this.deps.clock.now() }),
    run: (context) => this.stopGuest(context),
  };
  readonly commit: StepDefinition<MoveInput> = {
    name: 'commit',
    ...PATIENCE.commit,
    run: (context) => this.commitCopy(context),
  };
  readonly folder: StepDefinition<MoveInput> = {
    name: 'folder',
    ...PATIENCE.folder,
    run: (context) => this.carryOverRecords(context),
  };
  readonly delete: StepDefinition<MoveInput> = {
    name: 'delete',
    ...PATIENCE.delete,
    run: (context) => this.deleteSource(context),
  };

  /** The tasks that were interrupted after the comparison: their sources may have been used meanwhile. */
  private readonly interrupted = new Set<string>();

  constructor(private readonly deps: CopyStepsDeps) {}

  ends(input: MoveInput): MoveEnds {
    return new MoveEnds(this.deps, input);
  }

  /** Every step looks at the real state, so each can be repeated, unless the copy is gone. */
  async resume({ input, steps }: TaskJournal<MoveInput>, context: TaskContext): Promise<Resumption> {
    if (steps.some(({ name, isFinished }) => name === 'verify' && isFinished)) this.interrupted.add(context.task);
    const ends = this.ends(input);
    const { target } = ends;
    await untilListed(this.deps, ends.ref);
    const state = await ends.ingest.state(target);
    const last = steps.at(-1);
    context.log(`The service was restarted at the step ${last?.name ?? 'reserve'}; the copy is ${state}.`);
    if (!last) return { action: 'continue' };
    if (state === 'committed')
      return last.name === 'commit' ? { action: 'finished', result: this.committed() } : { action: 'continue' };
    if (last.name === 'reserve' && !last.isFinished) {
      // Disks may be missing.
      await ends.ingest.discard(target);
      return { action: 'continue' };
    }
    return state === 'absent' ? { action: 'rollback', reason: 'The copy no longer exists.' } : { action: 'continue' };
  }

  async rollback({ input, steps }: TaskJournal<MoveInput>, context: TaskContext): Promise<void> {
    const ends = this.ends(input);
    if ((await ends.ingest.state(ends.target)) === 'committed') return context.log('The copy is complete and stays.');
    await ends.ingest.discard(ends.target);
    context.log('The incomplete copy was removed.');
    if (steps.some(({ name }) => name === 'stop')) await this.startSource(ends, context);
  }

  private async reserveCopy({ input, log }: StepContext<MoveInput>): Promise<Reserved> {
    const ends = this.ends(input);
    const { target } = ends;
    ends.expectVm();
    const { vm, losses } = await beginCopy(ends, { input, log });
    log(`${target.ref.name} is reserved in ${target.ref.context}.`);
    return { disks: vm.disks.map(({ name, sizeBytes }) => ({ name, sizeBytes })), losses };
  }

  private async stopGuest({ input, signal }: StepContext<MoveInput>): Promise<StoppedGuest> {
    const ends = this.ends(input);
    const { ref } = ends;
    const isStopped = (): boolean => ends.expectVm().status === 'Stopped';
    if (isStopped()) return {};
    const begunAtMs = this.deps.clock.now();
    await ends.power.apply(ref, 'stop');
    await Promise.race([ends.whenStopped(STOP_TIMEOUT_MS), whenAborted(signal)]);
    signal.throwIfAborted();
    const elapsedMs = this.deps.clock.now() - begunAtMs;
    if (isStopped()) {
      this.deps.shutdowns.record(input, elapsedMs);
      return { shutdownSeconds: tenths(elapsedMs / 1000) };
    }
    throw new DomainError(
      'BACKEND_TIMEOUT',
      `${ref.name} did not shut down in time: shut it down, or force it to stop, and move it then.`,
    );
  }

  private async commitCopy({ input, log }: StepContext<MoveInput>): Promise<Committed> {
    const ends = this.ends(input);
    const { target } = ends;
    const { status, ref } = ends.expectVm();
    if (status !== 'Stopped')
      throw new DomainError('WRONG_STATE', `${ref.name} is ${status}: it was started during the move.`);
    await ends.ingest.commit(target);
    const committed = this.committed();
    await this.untilComplete(target.ref);
    log(`${target.ref.name} is complete in ${target.ref.context}.`);
    return committed;
  }

  private untilComplete(ref: InstanceRef, timeoutMs?: number): Promise<void> {
    return this.deps.directory.waitFor(ref, (vm) => !!vm && isVm(vm) && vm.status !== 'Provisioning', timeoutMs);
  }

  private committed(): Committed {
    return { committedAtMs: this.deps.clock.now() };
  }

  /**
   * A VM in no folder works as well, so a failure does not end the move. The folder keeps the source then, as missing.
   */
  private async carryOverRecords({ input, log }: StepContext<MoveInput>): Promise<CarriedOver> {
    const { source: ref, uid, destination } = input;
    try {
      const copy = await this.findCopy(input);
      await this.deps.records.carryOver({ ref, uid }, { ref: destination, uid: copy });
      this.deps.shutdowns.carryOver(uid, copy);
      return { isCarriedOver: true };
    } catch (error) {
      log(`The copy could not be put into the folder of the source: ${messageOf(error)}`);
      return { isCarriedOver: false };
    }
  }

  /**
   * The ID of the copy.
   * @throws DomainError INSTANCE_NOT_FOUND when it is not listed in time, or another VM has its name
   */
  private async findCopy(input: MoveInput): Promise<string> {
    const { ingest, target } = this.ends(input);
    await this.untilComplete(target.ref, LIST_TIMEOUT_MS);
    const uid = this.deps.directory.get(target.ref)?.uid;
    // Looked at afterwards: a VM that has replaced the copy is not of this move.
    if (uid !== undefined && (await ingest.state(target)) === 'committed') return uid;
    throw new DomainError('INSTANCE_NOT_FOUND', `${target.ref.name} is not in ${target.ref.context}.`);
  }

  private async deleteSource(context: StepContext<MoveInput>): Promise<void> {
    const { input, caller } = context;
    const ends = this.ends(input);
    const { ref } = ends;
    if (ends.vm) {
      await this.expectUnchanged(ends, context);
      const provisioning = this.deps.backends.get(ref.context).require('provisioning');
      await this.deps.audit.of(caller, 'delete after move', ref, () => provisioning.delete(ref));
      await this.deps.directory.waitFor(ref, (vm) => vm?.uid !== input.uid);
    }
    // Also if it was deleted before a restart of the service.
    const { isCarriedOver = true } = context.result<CarriedOver | undefined>('folder') ?? {};
    if (isCarriedOver) await this.deps.records.forget({ ref: input.source, uid: input.uid });
    this.interrupted.delete(context.task);
  }

  /** A source that was changed after the copy is kept: its changes are nowhere else. */
  private async expectUnchanged(ends: MoveEnds, { task, signal, result }: StepContext<MoveInput>): Promise<void> {
    const { status, ref } = ends.expectVm();
    const kept = 'The copy is complete, but the source is kept:';
    if (status !== 'Stopped') throw new DomainError('WRONG_STATE', `${kept} ${ref.name} is ${status}.`);
    if (!this.interrupted.has(task)) return;
    const { hashes, variablesHash } = result<Verified>('verify');
    if (variablesHash !== undefined && (await hashVariables(ends)) !== variablesHash)
      throw new DomainError('WRONG_STATE', `${kept} the variables of its firmware have changed since.`);
    for (const [disk, hash] of Object.entries(hashes)) {
      const content = await ends.source.open(ref, disk, signal);
      if ((await rootHash(content)) !== hash)
        throw new DomainError('WRONG_STATE', `${kept} its disk ${disk} has changed since.`);
    }
  }

  private async startSource(ends: MoveEnds, context: TaskContext): Promise<void> {
    const { ref } = ends;
    await untilListed(this.deps, ref);
    if (!ends.vm) return context.log('The source no longer exists.');
    // Also if it is still shutting down: it would be stopped otherwise.
    await this.deps.directory.waitFor(ref, (vm) => !vm || (isVm(vm) && vm.status !== 'Stopping'), STOP_TIMEOUT_MS);
    if (ends.vm?.status !== 'Stopped') return;
    await ends.power.apply(ref, 'start');
    await this.deps.directory.waitFor(ref, (vm) => !vm || (isVm(vm) && vm.status === 'Running'), START_TIMEOUT_MS);
    context.log(`${ref.name} was started again.`);
  }
}

/** Takes the name and the disks at the destination, and logs the properties that the copy turned out not to get. */
export async function beginCopy(
  ends: MoveEnds,
  { input, log }: Pick<StepContext<MoveInput>, 'input' | 'log'>,
): Promise<{ readonly vm: PortableVm; readonly losses: readonly Loss[] }> {
  const { vm } = await ends.source.describe(ends.ref);
  const losses = await ends.ingest.begin({ ...ends.target, vm, mapping: input.mapping });
  for (const { what } of losses) log(`The copy is without this: ${what}`);
  return { vm, losses };
}

/** The losses of the step `reserve`, for the result of the task. */
export function lossesOf(journal: TaskJournal<MoveInput>): Pick<Reserved, 'losses'> {
  const { losses = [] } = (journaledStep(journal, 'reserve')?.result ?? {}) as Partial<Reserved>;
  return losses.length === 0 ? {} : { losses };
}

/** The disks that the step `reserve` has found. */
export const disksOf = ({ result }: Pick<StepContext<MoveInput>, 'result'>): readonly ReservedDisk[] =>
  result<Reserved>('reserve').disks;

export const sizeOf = (disks: readonly ReservedDisk[]): number =>
  disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** The times of a move whose steps are all finished. */
export function timesOf(journal: TaskJournal<MoveInput>): MoveTimes {
  const { stoppedAtMs } = (journaledStep(journal, 'stop')?.params ?? {}) as Pick<MoveTimes, 'stoppedAtMs'>;
  const { shutdownSeconds } = (journaledStep(journal, 'stop')?.result ?? {}) as StoppedGuest;
  const { committedAtMs } = journaledStep(journal, 'commit')?.result as Committed;
  return {
    committedAtMs,
    ...(stoppedAtMs !== undefined && { stoppedAtMs }),
    ...(shutdownSeconds !== undefined && { shutdownSeconds }),
  };
}

export const journaledStep = ({ steps }: TaskJournal<MoveInput>, name: string) =>
  steps.find((step) => step.name === name);

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
