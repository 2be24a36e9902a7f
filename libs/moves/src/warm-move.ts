import {
  copyDisk,
  DISK_BLOCK_BYTES,
  DomainError,
  formatBytes,
  hashesOf,
  isVm,
  messageOf,
  parseRef,
  type BackendDirectory,
  type Clock,
  type DiskIngest,
  type DiskRecording,
  type IngestTarget,
  type InstanceDirectory,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskJournal,
} from '@headgate/domain-contracts';
import { BlockHashes, compareDisks, rootOf } from './compare-disks.js';
import type { MoveEnds } from './copy-content.js';
import { compareFirmwareVariables, copyFirmwareVariables } from './firmware-variables.js';
import type { MoveInput, Verified } from './move-input.js';
import { PaceMeter, type Pace } from './pace.js';
import { ROUND_GOAL_BYTES } from './plan-warm-move.js';
import { promiseDowntime, tenths, type PromisedDowntime } from './promise-downtime.js';
import type { ShutdownEstimates } from './shutdown-estimates.js';
import type { Throughput } from './throughput.js';
import { copyChanges, rewriteDifferences, verifyBlocks } from './warm-disk.js';
import { fromJournal, toJournal, touchedBytesOf, type JournaledState, type WarmState } from './warm-state.js';

export interface WarmMoveDeps {
  readonly directory: InstanceDirectory;
  readonly backends: BackendDirectory;
  readonly throughput: Throughput;
  readonly shutdowns: ShutdownEstimates;
  readonly clock: Clock;
}

/** The steps of a cold move that a warm one has as well. */
export type ColdSteps = readonly StepDefinition<MoveInput>[];
/** Repeats work until its backend answers. */
export type Patiently = <T>(context: TaskContext, work: () => Promise<T>) => Promise<T>;

interface Disk {
  readonly name: string;
  readonly sizeBytes: number;
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

const MAX_ROUNDS = 6;
/** A round that is not smaller than this part of the one before gains nothing. */
const MIN_GAIN = 0.75;
/** The directory notices the end of a guest shortly after its backend. */
const STOPPED_TIMEOUT_MS = 15_000;

/**
 * A move that copies the disks while the guest runs: first as a whole, then in rounds what has changed, and after the guest was stopped the
 * rest. The whole copy is compared while the guest runs, so that only the blocks that were copied again are compared while it is stopped.
 */
export class WarmMove {
  /** By the ID of the move. Lost with the process, unless the journal has them. */
  private readonly states = new Map<string, WarmState>();

  constructor(
    private readonly deps: WarmMoveDeps,
    private readonly patiently: Patiently,
  ) {}

  steps(cold: ColdSteps): readonly StepDefinition<MoveInput>[] {
    const shared = (name: string): StepDefinition<MoveInput>[] => cold.filter((step) => step.name === name);
    return [
      ...shared('reserve'),
      { name: 'bulk', isCancelable: true, weight: 20, run: (context) => this.copyWhole(context) },
      { name: 'rounds', isCancelable: true, weight: 3, run: (context) => this.copyRounds(context) },
      ...shared('stop').map((stop) => ({
        ...stop,
        params: ({ input, steps }: TaskJournal<MoveInput>) => {
          const resultOf = (name: string) => steps.find((one) => one.name === name)?.result;
          const { disks } = resultOf('reserve') as { readonly disks: readonly Disk[] };
          return {
            stoppedAtMs: this.deps.clock.now(),
            promisedDowntimeSeconds: this.promise(input, resultOf('rounds') as Rounds, disks).seconds,
          };
        },
      })),
      { name: 'rest', isCancelable: true, run: (context) => this.copyRest(context) },
      { name: 'verify', isCancelable: true, weight: 2, run: (context) => this.verify(context) },
      ...shared('commit'),
      ...shared('folder'),
      { name: 'release', run: (context) => this.end(context.input, context) },
      ...shared('delete'),
    ];
  }

  /** Removes the recording at the source, and everything that belongs to it. */
  async end(input: MoveInput, context: TaskContext): Promise<void> {
    this.states.delete(input.id);
    await this.patiently(context, () => this.liveDisks(input).end(recordingOf(input)));
  }

  result({ input, steps }: TaskJournal<MoveInput>): object {
    const find = (name: string) => steps.find((step) => step.name === name);
    const { writtenBytes } = find('bulk')?.result as Bulk;
    const { recopiedBytes } = find('rest')?.result as Rest;
    const { committedAtMs } = find('commit')?.result as { committedAtMs: number };
    const { stoppedAtMs, promisedDowntimeSeconds } = find('stop')?.params as Record<string, number>;
    const { shutdownSeconds } = (find('stop')?.result ?? {}) as { readonly shutdownSeconds?: number };
    return {
      destination: input.destination,
      writtenBytes,
      recopiedBytes,
      promisedDowntimeSeconds,
      ...(shutdownSeconds !== undefined && { shutdownSeconds }),
      downtimeSeconds: tenths((committedAtMs - (stoppedAtMs ?? committedAtMs)) / 1000),
    };
  }

  private async copyWhole(context: StepContext<MoveInput>): Promise<Bulk> {
    const { input, signal, attempt } = context;
    const disks = disksOf(context);
    const state: WarmState = new Map();
    if (attempt > 1) await this.beginAgain(input, context);
    const begunAtMs = this.deps.clock.now();
    const meter = new PaceMeter(this.deps.clock);
    const totalBytes = sizeOf(disks);
    let [doneBytes, writtenBytes] = [0, 0];
    for (const { name, sizeBytes } of disks) {
      try {
        const hashes = new BlockHashes();
        const content = await this.liveDisks(input).open(recordingOf(input), name, signal);
        const openWriter = () => this.ingest(input).write(targetOf(input), name, signal);
        const writer = await meter
          .measure('open', openWriter, () => 1)
          .catch((error: unknown) => {
            content.destroy();
            throw error;
          });
        const report = (offset: number): void => context.bytes(doneBytes + Math.floor(offset / 2), totalBytes);
        const copied = await meter.measure(
          'copy',
          () => copyDisk(content, writer, report, (block) => hashes.add(block)),
          (bytes) => bytes,
        );
        writtenBytes += copied;
        signal.throwIfAborted();
        const table = await hashes.all();
        const written = this.ingest(input).hashes(targetOf(input), name, signal);
        const reportCompared = (block: number): void =>
          context.bytes(
            doneBytes + Math.floor((sizeBytes + Math.min(sizeBytes, block * DISK_BLOCK_BYTES)) / 2),
            totalBytes,
          );
        await meter.measure(
          'compare',
          () => compareDisks(table, written, reportCompared),
          () => copied,
        );
        signal.throwIfAborted();
        state.set(name, { hashes: table, touched: new Set(), moment: 1 });
        doneBytes += sizeBytes;
        context.log(`The disk ${name} was copied while its guest runs, and compared.`);
      } catch (error) {
        if (signal.aborted || !(await this.hasStopped(input, error))) throw error;
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
      ...{ recopiedBytes, lastBytes: Number.isFinite(lastBytes) ? lastBytes : 0 },
      ...{ disks, state, meter },
    });
    context.log(this.promise(context.input, rounds, disks).text);
    return rounds;
  }

  /** After the guest was stopped. A disk whose changes are not known is compared as a whole. */
  private async copyRest(context: StepContext<MoveInput>): Promise<Rest> {
    const { input, signal } = context;
    const state = this.stateOf(context, undefined, 'rounds');
    const meter = new PaceMeter(this.deps.clock);
    let { recopiedBytes } = context.result<Rounds>('rounds');
    const rewritten: string[] = [];
    for (const { name } of disksOf(context)) {
      const disk = state.get(name);
      try {
        if (disk) {
          const { bytes } = await copyChanges({ ...this.endsOf(input, name), disk, signal, meter });
          recopiedBytes += bytes;
          continue;
        }
      } catch (error) {
        if (!DomainError.is(error, 'CHECKPOINT_INCONSISTENT', 'CHECKPOINT_NOT_FOUND')) throw error;
        context.log(`${messageOf(error)} The whole disk ${name} is compared.`);
        state.delete(name);
      }
      const { bytes } = await this.rewrite(input, name, signal);
      recopiedBytes += bytes;
      rewritten.push(name);
    }
    if (input.copiesFirmwareVariables) context.log(await copyFirmwareVariables(this.endsOfMove(input)));
    this.states.set(input.id, state);
    return { recopiedBytes, rewritten, state: toJournal(state) };
  }

  private async verify(context: StepContext<MoveInput>): Promise<Verified> {
    const { input, signal } = context;
    const state = this.stateOf(context, undefined, 'rest');
    const hashes: Record<string, string> = {};
    for (const { name } of disksOf(context)) {
      const disk = state.get(name);
      if (disk) {
        await verifyBlocks({ ...this.endsOf(input, name), disk, signal });
        hashes[name] = await rootOf(disk.hashes);
      } else {
        const source = this.sourceHashes(input, name, signal);
        const copy = this.ingest(input).hashes(targetOf(input), name, signal);
        hashes[name] = await compareDisks(source, copy, () => undefined);
      }
      signal.throwIfAborted();
    }
    const variablesHash = input.copiesFirmwareVariables && (await compareFirmwareVariables(this.endsOfMove(input)));
    context.log('The disks of both ends are equal.');
    return { hashes, ...(variablesHash && { variablesHash }) };
  }

  private async copyChangesOf(
    context: StepContext<MoveInput>,
    state: WarmState,
    meter: PaceMeter,
  ): Promise<{ readonly bytes: number; readonly isLast: boolean }> {
    const { input, signal } = context;
    let bytes = 0;
    let isLast = false;
    for (const [name, disk] of state) {
      const found = await copyChanges({ ...this.endsOf(input, name), disk, signal, meter });
      bytes += found.bytes;
      isLast ||= found.isLast;
      if (!found.isLast) disk.moment++;
    }
    return { bytes, isLast };
  }

  /** Replaces the disks at the destination by blank ones, because their content is of an earlier moment. */
  private async beginAgain(input: MoveInput, context: TaskContext): Promise<void> {
    const ingest = this.ingest(input);
    const target = targetOf(input);
    await this.patiently(context, () => this.liveDisks(input).end(recordingOf(input)));
    await this.patiently(context, () => ingest.discard(target));
    const { vm } = await this.source(input).describe(parseRef(input.source));
    await ingest.begin({ ...target, vm, mapping: input.mapping });
    context.log('The copy begins again.');
  }

  private async rewrite(input: MoveInput, disk: string, signal: AbortSignal): Promise<{ readonly bytes: number }> {
    const content = await this.source(input).open(parseRef(input.source), disk, signal);
    return rewriteDifferences(content, () => this.ingest(input).update(targetOf(input), disk, signal), signal);
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
  private async hasStopped(input: MoveInput, error: unknown): Promise<boolean> {
    if (!DomainError.is(error, 'WRONG_STATE')) return false;
    const ref = parseRef(input.source);
    await this.deps.directory.waitFor(ref, (vm) => !vm || (isVm(vm) && vm.status === 'Stopped'), STOPPED_TIMEOUT_MS);
    const vm = this.deps.directory.get(ref);
    return vm?.uid === input.uid && isVm(vm) && vm.status === 'Stopped';
  }

  private promise(input: MoveInput, rounds: Rounds, { length }: readonly Disk[]): PromisedDowntime {
    const { lastBytes, touchedBytes, wholeBytes, pace } = rounds;
    const shutdown = this.deps.shutdowns.of(input);
    return promiseDowntime({ disks: length, lastBytes, touchedBytes, wholeBytes, pace, shutdown }, this.deps.clock);
  }

  private endsOf(input: MoveInput, name: string) {
    return {
      changes: (since: number, signal: AbortSignal) =>
        this.liveDisks(input).changes(recordingOf(input), { disk: name, since }, signal),
      update: (signal: AbortSignal) => this.ingest(input).update(targetOf(input), name, signal),
    };
  }

  private async *sourceHashes(input: MoveInput, disk: string, signal: AbortSignal): AsyncGenerator<string> {
    const content = await this.source(input).open(parseRef(input.source), disk, signal);
    const closed = new Promise((resolve) => content.once('close', resolve));
    try {
      yield* hashesOf(content);
    } finally {
      content.destroy();
      await closed;
    }
  }

  private endsOfMove(input: MoveInput): MoveEnds {
    return {
      ...{ source: this.source(input), ref: parseRef(input.source) },
      ...{ ingest: this.ingest(input), target: targetOf(input) },
    };
  }

  private liveDisks({ source }: MoveInput) {
    return this.deps.backends.get(parseRef(source).context).require('liveDisks');
  }

  private source({ source }: MoveInput) {
    return this.deps.backends.get(parseRef(source).context).require('diskSource');
  }

  private ingest({ destination }: MoveInput): DiskIngest {
    return this.deps.backends.get(parseRef(destination).context).require('diskIngest');
  }
}

const recordingOf = ({ id, source }: MoveInput): DiskRecording => ({ id, ref: parseRef(source) });

const targetOf = ({ id, destination }: MoveInput): IngestTarget => ({ id, ref: parseRef(destination) });

const disksOf = (context: StepContext<MoveInput>): readonly Disk[] =>
  context.result<{ readonly disks: readonly Disk[] }>('reserve').disks;

const sizeOf = (disks: readonly Disk[]): number => disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

const roundsOf = ({
  recopiedBytes,
  lastBytes,
  disks,
  state,
  meter,
}: Pick<Rounds, 'recopiedBytes' | 'lastBytes'> & {
  readonly disks: readonly Disk[];
  readonly state: WarmState;
  readonly meter: PaceMeter;
}): Rounds => ({
  ...{ recopiedBytes, lastBytes },
  touchedBytes: touchedBytesOf(state),
  wholeBytes: sizeOf(disks.filter(({ name }) => !state.has(name))),
  pace: meter.pace,
  state: toJournal(state),
});

const wholeKibibytes = (bytes: number): number => Math.ceil(bytes / 1024) * 1024;
