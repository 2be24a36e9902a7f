import {
  DISK_BLOCK_BYTES,
  DomainError,
  formatBytes,
  hashesOf,
  isVm,
  messageOf,
  parseRef,
  type Audit,
  type BackendDirectory,
  type Clock,
  type IngestTarget,
  type InstanceDirectory,
  type InstanceRef,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskDefinition,
  type TaskJournal,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import { compareDisks, rootHash } from './compare-disks.js';
import { copyContent, type MoveEnds } from './copy-content.js';
import { compareFirmwareVariables, copyFirmwareVariables, hashVariables } from './firmware-variables.js';
import type { InstanceRecords } from './instance-records.js';
import { LiveMove } from './live-move.js';
import type { MoveInput, Verified } from './move-input.js';
import type { MovesInProgress } from './moves-in-progress.js';
import { tenths } from './promise-downtime.js';
import type { ShutdownEstimates } from './shutdown-estimates.js';
import type { Throughput } from './throughput.js';
import { WarmMove } from './warm-move.js';

export interface MoveTaskDeps {
  readonly directory: InstanceDirectory;
  readonly backends: BackendDirectory;
  readonly records: InstanceRecords;
  readonly audit: Audit;
  readonly inProgress: MovesInProgress;
  readonly throughput: Throughput;
  readonly shutdowns: ShutdownEstimates;
  readonly clock: Clock;
}

interface Reserved {
  readonly disks: readonly { readonly name: string; readonly sizeBytes: number }[];
}

/** Empty if the guest was stopped when the step began. */
interface StoppedGuest {
  readonly shutdownSeconds?: number;
}

interface Copied {
  readonly writtenBytes: number;
  /** How long the copy took. Absent in the journals of older releases. */
  readonly elapsedMs?: number;
}

/** The guest may need as long as its backend waits for it. */
const STOP_TIMEOUT_MS = 180_000;
const START_TIMEOUT_MS = 90_000;
/** A source that is not listed by then is gone. */
const LIST_TIMEOUT_MS = 30_000;
/** How long a backend may be away before the move gives up. */
const UNREACHABLE_LIMIT_MS = 60 * 60_000;
const RETRY_PAUSE_MS = 10_000;

/** The steps of a move. Until `commit`, everything can be undone; afterwards the move goes on, whatever happens. */
export class MoveTask implements TaskDefinition<MoveInput> {
  readonly kind = 'move';

  private readonly live: LiveMove;
  private readonly warm: WarmMove;

  constructor(private readonly deps: MoveTaskDeps) {
    this.live = new LiveMove(deps);
    this.warm = new WarmMove(deps, (context, work) => this.patiently(context, work));
  }

  steps(input: MoveInput): readonly StepDefinition<MoveInput>[] {
    if (input.mode === 'live') return this.live.steps();
    return input.mode === 'warm' ? this.warm.steps(this.coldSteps(input)) : this.coldSteps(input);
  }

  private coldSteps({ wasRunning, deleteSource }: MoveInput): readonly StepDefinition<MoveInput>[] {
    return [
      { name: 'reserve', isCancelable: true, run: (context) => this.reserve(context) },
      ...(wasRunning
        ? [
            {
              name: 'stop',
              isCancelable: true,
              params: () => ({ stoppedAtMs: this.deps.clock.now() }),
              run: (context: StepContext<MoveInput>) => this.stop(context),
            },
          ]
        : []),
      { name: 'copy', isCancelable: true, weight: 20, run: (context) => this.copy(context) },
      { name: 'verify', isCancelable: true, weight: 10, run: (context) => this.verify(context) },
      { name: 'commit', run: (context) => this.commit(context) },
      { name: 'folder', run: (context) => this.follow(context) },
      ...(deleteSource
        ? [{ name: 'delete', run: (context: StepContext<MoveInput>) => this.deleteSource(context) }]
        : []),
    ];
  }

  /** Every step looks at the real state, so each can be repeated, unless the copy is gone. */
  async resume(journal: TaskJournal<MoveInput>, context: TaskContext): Promise<Resumption> {
    const { task, input, steps } = journal;
    this.deps.inProgress.add(input.source, task);
    if (input.mode === 'live') return this.live.resume(journal, context);
    await this.untilListed(input);
    const ingest = this.ingest(input);
    const target = targetOf(input);
    const state = await this.patiently(context, () => ingest.state(target));
    const last = steps.at(-1);
    context.log(`The service was restarted at the step ${last?.name ?? 'reserve'}; the copy is ${state}.`);
    if (!last) return { action: 'continue' };
    if (state === 'committed')
      return last.name === 'commit' ? { action: 'finished', result: this.committed() } : { action: 'continue' };
    if (last.name === 'reserve' && !last.isFinished) {
      // Disks may be missing.
      await ingest.discard(target);
      return { action: 'continue' };
    }
    return state === 'absent' ? { action: 'rollback', reason: 'The copy no longer exists.' } : { action: 'continue' };
  }

  async rollback({ input, steps }: TaskJournal<MoveInput>, context: TaskContext): Promise<void> {
    if (input.mode === 'live') return;
    if (input.mode === 'warm') await this.warm.end(input, context);
    const ingest = this.ingest(input);
    const target = targetOf(input);
    if ((await this.patiently(context, () => ingest.state(target))) === 'committed')
      return context.log('The copy is complete and stays.');
    await ingest.discard(target);
    context.log('The incomplete copy was removed.');
    if (steps.some(({ name }) => name === 'stop')) await this.startSource(input, context);
  }

  result(journal: TaskJournal<MoveInput>): object {
    const { input, steps } = journal;
    if (input.mode === 'live') return this.live.result(journal);
    if (input.mode === 'warm') return this.warm.result(journal);
    const find = (name: string) => steps.find((step) => step.name === name);
    const stoppedAtMs = (find('stop')?.params as { stoppedAtMs?: number } | undefined)?.stoppedAtMs;
    const { shutdownSeconds } = (find('stop')?.result ?? {}) as StoppedGuest;
    const { committedAtMs } = find('commit')?.result as { committedAtMs: number };
    const { writtenBytes } = find('copy')?.result as Copied;
    return {
      destination: input.destination,
      writtenBytes,
      ...(shutdownSeconds !== undefined && { shutdownSeconds }),
      ...(stoppedAtMs !== undefined && { downtimeSeconds: Math.round((committedAtMs - stoppedAtMs) / 1000) }),
    };
  }

  private async reserve(context: StepContext<MoveInput>): Promise<Reserved> {
    const { input } = context;
    const [source, target] = [parseRef(input.source), targetOf(input)];
    this.expectSource(input);
    const { vm } = await this.source(input).describe(source);
    await this.ingest(input).begin({ ...target, vm, mapping: input.mapping });
    context.log(`${target.ref.name} is reserved in ${target.ref.context}.`);
    return { disks: vm.disks.map(({ name, sizeBytes }) => ({ name, sizeBytes })) };
  }

  private async stop({ input, signal }: StepContext<MoveInput>): Promise<StoppedGuest> {
    const ref = parseRef(input.source);
    const isStopped = (): boolean => this.expectSource(input).status === 'Stopped';
    if (isStopped()) return {};
    const begunAtMs = this.deps.clock.now();
    await this.powerOf(ref).apply(ref, 'stop');
    await Promise.race([
      this.deps.directory.waitFor(ref, (vm) => !vm || (isVm(vm) && vm.status === 'Stopped'), STOP_TIMEOUT_MS),
      whenAborted(signal),
    ]);
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

  private async copy(context: StepContext<MoveInput>): Promise<Copied> {
    const { input, signal } = context;
    const { disks } = context.result<Reserved>('reserve');
    const totalBytes = sizeOf(disks);
    const begunAtMs = this.deps.clock.now();
    let doneBytes = 0;
    let writtenBytes = 0;
    for (const { name, sizeBytes } of disks) {
      writtenBytes += await copyContent({
        ...{ ...this.ends(input), disk: name, signal },
        report: (offset) => context.bytes(doneBytes + Math.min(offset, sizeBytes), totalBytes),
      });
      signal.throwIfAborted();
      doneBytes += sizeBytes;
      context.log(`The disk ${name} was copied.`);
    }
    if (input.copiesFirmwareVariables) context.log(await copyFirmwareVariables(this.ends(input)));
    context.log(`${formatBytes(writtenBytes)} of ${formatBytes(totalBytes)} were written, the rest is zeros.`);
    return { writtenBytes, elapsedMs: this.deps.clock.now() - begunAtMs };
  }

  private async verify(context: StepContext<MoveInput>): Promise<Verified> {
    const { input, signal } = context;
    const { disks } = context.result<Reserved>('reserve');
    const totalBytes = sizeOf(disks);
    const hashes: Record<string, string> = {};
    const begunAtMs = this.deps.clock.now();
    let doneBytes = 0;
    for (const { name, sizeBytes } of disks) {
      // Opened again, so that a change since it was copied shows as well.
      const source = this.sourceHashes(input, name, signal);
      const copy = this.ingest(input).hashes(targetOf(input), name, signal);
      hashes[name] = await compareDisks(source, copy, (block) =>
        context.bytes(doneBytes + Math.min(block * DISK_BLOCK_BYTES, sizeBytes), totalBytes),
      );
      signal.throwIfAborted();
      doneBytes += sizeBytes;
    }
    const variablesHash = input.copiesFirmwareVariables && (await compareFirmwareVariables(this.ends(input)));
    const { writtenBytes, elapsedMs } = context.result<Copied>('copy');
    if (elapsedMs !== undefined)
      this.deps.throughput.record(writtenBytes, elapsedMs + this.deps.clock.now() - begunAtMs);
    context.log('The disks of both ends are equal.');
    return { hashes, ...(variablesHash && { variablesHash }) };
  }

  private async commit(context: StepContext<MoveInput>): Promise<object> {
    const { input } = context;
    const { status, ref } = this.expectSource(input);
    if (status !== 'Stopped')
      throw new DomainError('WRONG_STATE', `${ref.name} is ${status}: it was started during the move.`);
    const target = targetOf(input);
    await this.ingest(input).commit(target);
    const committed = this.committed();
    await this.deps.directory.waitFor(target.ref, (vm) => !!vm && isVm(vm) && vm.status !== 'Provisioning');
    context.log(`${target.ref.name} is complete in ${target.ref.context}.`);
    return committed;
  }

  private committed(): { committedAtMs: number } {
    return { committedAtMs: this.deps.clock.now() };
  }

  /** A VM in no folder works as well, so a failure does not end the move. */
  private async follow(context: StepContext<MoveInput>): Promise<void> {
    const { source: ref, uid, destination } = context.input;
    try {
      await this.deps.records.carryOver({ ref, uid }, destination);
      const copy = this.deps.directory.get(parseRef(destination));
      if (copy) this.deps.shutdowns.carryOver(uid, copy.uid);
    } catch (error) {
      context.log(`The copy could not be put into the folder of the source: ${messageOf(error)}`);
    }
  }

  private async deleteSource(context: StepContext<MoveInput>): Promise<void> {
    const { input, caller, attempt } = context;
    const ref = parseRef(input.source);
    if (!this.sourceOf(input)) return;
    await this.expectUnchanged(context, attempt);
    const provisioning = this.deps.backends.get(ref.context).require('provisioning');
    await this.deps.audit.of(caller, 'delete after move', ref, () => provisioning.delete(ref));
    await this.deps.directory.waitFor(ref, (vm) => vm?.uid !== input.uid);
    await this.deps.records.forget(input.source);
  }

  /** A source that was changed after the copy is kept: its changes are nowhere else. */
  private async expectUnchanged(context: StepContext<MoveInput>, attempt: number): Promise<void> {
    const { input, signal } = context;
    const { status, ref } = this.expectSource(input);
    const kept = 'The copy is complete, but the source is kept:';
    if (status !== 'Stopped') throw new DomainError('WRONG_STATE', `${kept} ${ref.name} is ${status}.`);
    if (attempt === 1) return;
    const { hashes, variablesHash } = context.result<Verified>('verify');
    if (variablesHash !== undefined && (await hashVariables(this.ends(input))) !== variablesHash)
      throw new DomainError('WRONG_STATE', `${kept} the variables of its firmware have changed since.`);
    for (const [disk, hash] of Object.entries(hashes)) {
      const content = await this.source(input).open(ref, disk, signal);
      if ((await rootHash(content)) !== hash)
        throw new DomainError('WRONG_STATE', `${kept} its disk ${disk} has changed since.`);
    }
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

  /** The instances are listed after the start of the service. */
  private untilListed({ source }: MoveInput): Promise<void> {
    const ref = parseRef(source);
    return this.deps.directory.waitFor(ref, (vm) => vm !== undefined || this.isGone(ref), LIST_TIMEOUT_MS);
  }

  /** Whether its context was listed without it. */
  private isGone(ref: InstanceRef): boolean {
    const { directory, backends } = this.deps;
    try {
      backends.get(ref.context).require('inventory');
      directory.resolve(ref);
      return false;
    } catch (error) {
      return DomainError.is(error, 'INSTANCE_NOT_FOUND');
    }
  }

  /** A backend that does not answer may still have the copy. */
  private async patiently<T>(context: TaskContext, work: () => Promise<T>): Promise<T> {
    const deadline = this.deps.clock.now() + UNREACHABLE_LIMIT_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const isAway = DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');
        if (!isAway || this.deps.clock.now() >= deadline) throw error;
        context.log(`${messageOf(error)} Trying again.`);
      }
      await this.deps.clock.delay(RETRY_PAUSE_MS);
      context.signal.throwIfAborted();
    }
  }

  private async startSource(input: MoveInput, context: TaskContext): Promise<void> {
    await this.untilListed(input);
    const source = this.sourceOf(input);
    if (!source) return context.log('The source no longer exists.');
    const { ref } = source;
    // Also if it is still shutting down: it would be stopped otherwise.
    await this.deps.directory.waitFor(ref, (vm) => !vm || (isVm(vm) && vm.status !== 'Stopping'), STOP_TIMEOUT_MS);
    if (this.sourceOf(input)?.status !== 'Stopped') return;
    await this.powerOf(ref).apply(ref, 'start');
    await this.deps.directory.waitFor(ref, (vm) => !vm || (isVm(vm) && vm.status === 'Running'), START_TIMEOUT_MS);
    context.log(`${ref.name} was started again.`);
  }

  /** @throws DomainError INSTANCE_NOT_FOUND when it is gone, or when another VM has its name */
  private expectSource(input: MoveInput): VirtualMachine {
    const found = this.sourceOf(input);
    if (found) return found;
    throw new DomainError('INSTANCE_NOT_FOUND', `${parseRef(input.source).name} was deleted during the move.`);
  }

  private sourceOf({ source, uid }: MoveInput): VirtualMachine | undefined {
    const found = this.deps.directory.get(parseRef(source));
    return found && isVm(found) && found.uid === uid ? found : undefined;
  }

  private source({ source }: MoveInput) {
    return this.deps.backends.get(parseRef(source).context).require('diskSource');
  }

  private ingest({ destination }: MoveInput) {
    return this.deps.backends.get(parseRef(destination).context).require('diskIngest');
  }

  private ends(input: MoveInput): MoveEnds {
    return {
      source: this.source(input),
      ref: parseRef(input.source),
      ingest: this.ingest(input),
      target: targetOf(input),
    };
  }

  private powerOf({ context }: InstanceRef) {
    return this.deps.backends.get(context).require('power');
  }
}

const targetOf = ({ id, destination }: MoveInput): IngestTarget => ({ id, ref: parseRef(destination) });

const sizeOf = (disks: Reserved['disks']): number => disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
