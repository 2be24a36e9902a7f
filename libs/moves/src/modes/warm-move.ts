import {
  DISK_BLOCK_BYTES,
  DomainError,
  formatBytes,
  messageOf,
  retryWhileUnreachable,
  type Clock,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskJournal,
} from '@headgate/domain-contracts';
import { rootOf } from '../disks/compare-disks.js';
import { compareFirmwareVariables, copyFirmwareVariables } from '../disks/firmware-variables.js';
import { copyChanges, rewriteDifferences, verifyBlocks } from '../disks/warm-disk.js';
import { fromJournal, toJournal, touchedBytesOf, type JournaledState, type WarmState } from '../disks/warm-state.js';
import { copyAndCompare } from '../disks/whole-disk.js';
import { PaceMeter, type Pace } from '../estimates/pace.js';
import { promiseDowntime, tenths, type PromisedDowntime } from '../estimates/promise-downtime.js';
import type { ShutdownEstimates } from '../estimates/shutdown-estimates.js';
import type { Throughput } from '../estimates/throughput.js';
import type { MoveInput } from '../move-input.js';
import { ROUND_GOAL_BYTES } from '../plan/plan-warm-move.js';
import {
  lossesOf,
  beginCopy,
  disksOf,
  journaledStep,
  sizeOf,
  timesOf,
  type CopySteps,
  type ReservedDisk,
  type Verified,
} from './copy-steps.js';
import type { MoveEnds } from './move-ends.js';
import type { MoveStrategy } from './move-strategy.js';
import { PATIENCE } from './patience.js';

export interface WarmMoveDeps {
  readonly throughput: Throughput;
  readonly shutdowns: ShutdownEstimates;
  readonly clock: Clock;
}

interface Bulk {
  readonly writtenBytes: number;
  /** Absent in the journals of older releases. */
  readonly pace?: Pace;
  readonly state: JournaledState;
}

interface Rounds {
  /** How much was copied more than once. */
  readonly recopiedBytes: number;
  /** Of the last round. */
  readonly lastBytes: number;
  readonly touchedBytes: number;
  /** The size of the disks that have to be compared as a whole, because their hashes are not known. */
  readonly wholeBytes: number;
  /** Of this round and all before it. Absent in the journals of older releases. */
  readonly pace?: Pace;
  readonly state: JournaledState;
}

interface Rest {
  readonly recopiedBytes: number;
  /** The names of the disks whose changes were not recorded completely. */
  readonly rewritten: readonly string[];
  readonly state: JournaledState;
}

interface StopParams {
  readonly stoppedAtMs: number;
  readonly promisedDowntimeSeconds: number;
}

const MAX_ROUNDS = 6;
/** A round that is not smaller than this part of the one before gains nothing. */
const MIN_GAIN = 0.75;
/** The directory notices the end of a guest shortly after its backend. */
const STOPPED_TIMEOUT_MS = 15_000;

/**
 * A move that copies the disks while the guest runs: first as a whole, then in rounds what has changed, and after the
 * guest was stopped the rest. The whole copy is compared while the guest runs, so that only the blocks that were copied
 * again are compared while it is stopped.
 */
export class WarmMove implements MoveStrategy {
  /** By the ID of the move. Lost with the process, unless the journal has them. */
  private readonly states = new Map<string, WarmState>();

  constructor(
    private readonly deps: WarmMoveDeps,
    private readonly shared: CopySteps,
  ) {}

  steps({ deleteSource }: MoveInput): readonly StepDefinition<MoveInput>[] {
    const { shared } = this;
    return [
      shared.reserve,
      { name: 'bulk', ...PATIENCE.copy, isCancelable: true, weight: 20, run: (context) => this.copyWhole(context) },
      { name: 'rounds', ...PATIENCE.rounds, isCancelable: true, weight: 3, run: (context) => this.copyRounds(context) },
      { ...shared.stop, params: (journal) => this.promiseOf(journal) },
      { name: 'rest', ...PATIENCE.copy, isCancelable: true, run: (context) => this.copyRest(context) },
      { name: 'verify', ...PATIENCE.verify, isCancelable: true, weight: 2, run: (context) => this.verify(context) },
      shared.commit,
      shared.folder,
      { name: 'release', ...PATIENCE.release, run: (context) => this.endRecording(context.input, context) },
      ...(deleteSource ? [shared.delete] : []),
    ];
  }

  resume(journal: TaskJournal<MoveInput>, context: TaskContext): Promise<Resumption> {
    return this.shared.resume(journal, context);
  }

  async rollback(journal: TaskJournal<MoveInput>, context: TaskContext): Promise<void> {
    await this.endRecording(journal.input, context);
    await this.shared.rollback(journal, context);
  }

  result(journal: TaskJournal<MoveInput>): object {
    const { committedAtMs, stoppedAtMs = committedAtMs, shutdownSeconds } = timesOf(journal);
    const { writtenBytes } = journaledStep(journal, 'bulk')?.result as Bulk;
    const { recopiedBytes } = journaledStep(journal, 'rest')?.result as Rest;
    const { promisedDowntimeSeconds } = journaledStep(journal, 'stop')?.params as StopParams;
    return {
      destination: journal.input.destination,
      ...lossesOf(journal),
      writtenBytes,
      recopiedBytes,
      promisedDowntimeSeconds,
      ...(shutdownSeconds !== undefined && { shutdownSeconds }),
      downtimeSeconds: tenths((committedAtMs - stoppedAtMs) / 1000),
    };
  }

  /** Removes the recording at the source, and everything that belongs to it. */
  private async endRecording(input: MoveInput, context: TaskContext): Promise<void> {
    this.states.delete(input.id);
    const ends = this.shared.ends(input);
    await this.retry(context, () => ends.liveDisks.end(ends.recording));
  }

  private async copyWhole(context: StepContext<MoveInput>): Promise<Bulk> {
    const { input, signal, attempt } = context;
    const ends = this.shared.ends(input);
    const disks = disksOf(context);
    const state: WarmState = new Map();
    if (attempt > 1) await this.beginAgain(ends, context);
    const begunAtMs = this.deps.clock.now();
    const meter = new PaceMeter(this.deps.clock);
    const totalBytes = sizeOf(disks);
    let [doneBytes, writtenBytes] = [0, 0];
    for (const { name, sizeBytes } of disks) {
      const report = (bytes: number): void => context.bytes(doneBytes + bytes, totalBytes);
      try {
        const content = await ends.liveDisks.open(ends.recording, name, signal);
        const { ingest, target } = ends;
        const copied = await copyAndCompare({
          content,
          ingest,
          target,
          disk: name,
          sizeBytes,
          meter,
          report,
          signal,
        });
        writtenBytes += copied.writtenBytes;
        doneBytes += sizeBytes;
        state.set(name, { hashes: copied.hashes, touched: new Set(), moment: 1 });
        context.log(`The disk ${name} was copied while its guest runs, and compared.`);
      } catch (error) {
        if (signal.aborted || !(await this.hasStopped(ends, error))) throw error;
        context.log('The guest has stopped during the copy: the move continues as a cold one.');
        break;
      }
    }
    this.deps.throughput.record(writtenBytes, this.deps.clock.now() - begunAtMs);
    this.states.set(input.id, state);
    return { writtenBytes, pace: meter.pace, state: toJournal(state) };
  }

  private async copyRounds(context: StepContext<MoveInput>): Promise<Rounds> {
    const { signal } = context;
    const disks = disksOf(context);
    const saved = context.checkpoint as Rounds | undefined;
    const state = this.stateOf(context, saved?.state, 'bulk');
    const meter = new PaceMeter(this.deps.clock, saved?.pace ?? context.result<Bulk>('bulk').pace);
    let { recopiedBytes, lastBytes } = saved ?? { recopiedBytes: 0, lastBytes: Infinity };
    for (let round = 1; round <= MAX_ROUNDS && state.size > 0; round++) {
      const found = await this.copyChangesOf(context, state, meter);
      recopiedBytes += found.bytes;
      const hasGained = found.bytes < lastBytes * MIN_GAIN;
      lastBytes = found.bytes;
      context.log(`Round ${round}: ${formatBytes(wholeKibibytes(found.bytes))} had changed, and were copied again.`);
      await context.saveCheckpoint(roundsOf({ recopiedBytes, lastBytes, disks, state, meter }));
      signal.throwIfAborted();
      if (found.isLast || lastBytes <= ROUND_GOAL_BYTES || !hasGained) break;
    }
    const rounds = roundsOf({
      recopiedBytes,
      lastBytes: Number.isFinite(lastBytes) ? lastBytes : 0,
      disks,
      state,
      meter,
    });
    context.log(this.promise(context.input, rounds, disks).text);
    return rounds;
  }

  /** After the guest was stopped. A disk whose changes are not known is compared as a whole. */
  private async copyRest(context: StepContext<MoveInput>): Promise<Rest> {
    const { input, signal } = context;
    const report = summed(context.bytes);
    const ends = this.shared.ends(input);
    const state = this.stateOf(context, undefined, 'rounds');
    const meter = new PaceMeter(this.deps.clock);
    let { recopiedBytes } = context.result<Rounds>('rounds');
    const rewritten: string[] = [];
    for (const { name } of disksOf(context)) {
      const disk = state.get(name);
      try {
        if (disk) {
          const { bytes } = await copyChanges({ ...changesOf(ends, name), disk, signal, meter, report });
          recopiedBytes += bytes;
          continue;
        }
      } catch (error) {
        if (!DomainError.is(error, 'CHECKPOINT_INCONSISTENT', 'CHECKPOINT_NOT_FOUND')) throw error;
        context.log(`${messageOf(error)} The whole disk ${name} is compared.`);
        state.delete(name);
      }
      const content = await ends.source.open(ends.ref, name, signal);
      const { bytes } = await rewriteDifferences(content, () => changesOf(ends, name).update(signal), {
        signal,
        report,
      });
      recopiedBytes += bytes;
      rewritten.push(name);
    }
    if (input.copiesFirmwareVariables) context.log(await copyFirmwareVariables(ends));
    this.states.set(input.id, state);
    return { recopiedBytes, rewritten, state: toJournal(state) };
  }

  private async verify(context: StepContext<MoveInput>): Promise<Verified> {
    const { input, signal } = context;
    const report = summed(context.bytes);
    const ends = this.shared.ends(input);
    const state = this.stateOf(context, undefined, 'rest');
    const hashes: Record<string, string> = {};
    for (const { name } of disksOf(context)) {
      const disk = state.get(name);
      if (disk) {
        await verifyBlocks({ ...changesOf(ends, name), disk, signal, report });
        hashes[name] = await rootOf(disk.hashes);
      } else hashes[name] = await ends.compare(name, signal, () => report(DISK_BLOCK_BYTES));
      signal.throwIfAborted();
    }
    const variablesHash = input.copiesFirmwareVariables && (await compareFirmwareVariables(ends));
    context.log('The disks of both ends are equal.');
    return { hashes, ...(variablesHash && { variablesHash }) };
  }

  private async copyChangesOf(
    { input, signal, bytes: reportBytes }: StepContext<MoveInput>,
    state: WarmState,
    meter: PaceMeter,
  ): Promise<{ readonly bytes: number; readonly isLast: boolean }> {
    const ends = this.shared.ends(input);
    const report = summed(reportBytes);
    let bytes = 0;
    let isLast = false;
    for (const [name, disk] of state) {
      const found = await copyChanges({ ...changesOf(ends, name), disk, signal, meter, report });
      bytes += found.bytes;
      isLast ||= found.isLast;
      if (!found.isLast) disk.moment++;
    }
    return { bytes, isLast };
  }

  /** Replaces the disks at the destination by blank ones, because their content is of an earlier moment. */
  private async beginAgain(ends: MoveEnds, context: StepContext<MoveInput>): Promise<void> {
    const { target } = ends;
    await this.retry(context, () => ends.liveDisks.end(ends.recording));
    await this.retry(context, () => ends.ingest.discard(target));
    await beginCopy(ends, context);
    context.log('The copy begins again.');
  }

  /** @param step the step that journaled the state last */
  private stateOf(
    { input, result }: StepContext<MoveInput>,
    saved: JournaledState | undefined,
    step: string,
  ): WarmState {
    const known = this.states.get(input.id);
    if (known) return known;
    return fromJournal(saved ?? result<{ readonly state: JournaledState }>(step).state) ?? new Map();
  }

  /** Whether the guest has stopped on its own, so that an ability that needs it to run has failed. */
  private async hasStopped(ends: MoveEnds, error: unknown): Promise<boolean> {
    if (!DomainError.is(error, 'WRONG_STATE')) return false;
    await ends.whenStopped(STOPPED_TIMEOUT_MS);
    return ends.vm?.status === 'Stopped';
  }

  private promiseOf(journal: TaskJournal<MoveInput>): StopParams {
    const { disks } = journaledStep(journal, 'reserve')?.result as { readonly disks: readonly ReservedDisk[] };
    const { seconds } = this.promise(journal.input, journaledStep(journal, 'rounds')?.result as Rounds, disks);
    return { stoppedAtMs: this.deps.clock.now(), promisedDowntimeSeconds: seconds };
  }

  private promise(input: MoveInput, rounds: Rounds, { length }: readonly ReservedDisk[]): PromisedDowntime {
    const { lastBytes, touchedBytes, wholeBytes, pace } = rounds;
    const shutdown = this.deps.shutdowns.of(input);
    return promiseDowntime({ disks: length, lastBytes, touchedBytes, wholeBytes, pace, shutdown }, this.deps.clock);
  }

  private retry<T>(context: TaskContext, work: () => Promise<T>): Promise<T> {
    return retryWhileUnreachable(this.deps.clock, context, work);
  }
}

/** Reports the sum of all parts. */
function summed(report: (doneBytes: number) => void): (bytes: number) => void {
  let doneBytes = 0;
  return (bytes) => report((doneBytes += bytes));
}

/** The changes of a disk at the source, and the way to write them to the copy. */
const changesOf = ({ liveDisks, recording, ingest, target }: MoveEnds, disk: string) => ({
  changes: (since: number, signal: AbortSignal) => liveDisks.changes(recording, { disk, since }, signal),
  update: (signal: AbortSignal) => ingest.update(target, disk, signal),
});

const roundsOf = ({
  recopiedBytes,
  lastBytes,
  disks,
  state,
  meter,
}: Pick<Rounds, 'recopiedBytes' | 'lastBytes'> & {
  readonly disks: readonly ReservedDisk[];
  readonly state: WarmState;
  readonly meter: PaceMeter;
}): Rounds => ({
  recopiedBytes,
  lastBytes,
  touchedBytes: touchedBytesOf(state),
  wholeBytes: sizeOf(disks.filter(({ name }) => !state.has(name))),
  pace: meter.pace,
  state: toJournal(state),
});

const wholeKibibytes = (bytes: number): number => Math.ceil(bytes / 1024) * 1024;
