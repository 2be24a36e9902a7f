import { Readable } from 'node:stream';
import {
  DomainError,
  formatBytes,
  messageOf,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskJournal,
  type TransferPart,
} from '@headgate/domain-contracts';
import type { Throughput } from '../estimates/throughput.js';
import type { MoveInput } from '../move-input.js';
import { ContainerEnds } from './container-ends.js';
import { journaledStep, timesOf, type CopyStepsDeps } from './copy-steps.js';
import type { MoveStrategy } from './move-strategy.js';
import { CONTAINER_PATIENCE } from './patience.js';
import { LIST_TIMEOUT_MS, untilListed } from './until-listed.js';

export interface ContainerMoveDeps extends CopyStepsDeps {
  readonly throughput: Throughput;
}

interface Copied {
  readonly parts: readonly string[];
  readonly writtenBytes: number;
  readonly elapsedMs: number;
}

interface Verified {
  /** Hash of the content by part. */
  readonly hashes: Readonly<Record<string, string>>;
}

interface CarriedOver {
  readonly isCarriedOver: boolean;
}

/** The programs of a container are killed long before. */
const STOP_TIMEOUT_MS = 90_000;
const START_TIMEOUT_MS = 90_000;
const REPORTED_BYTES = 1024 ** 2;

/**
 * A move that stops a container, copies its file systems as archives, compares both ends, and starts the copy if the
 * source ran. Until `commit`, everything can be undone; afterwards the move goes on.
 */
export class ContainerMove implements MoveStrategy {
  constructor(private readonly deps: ContainerMoveDeps) {}

  steps({ wasRunning, deleteSource }: MoveInput): readonly StepDefinition<MoveInput>[] {
    const { copy, verify, stop, commit, folder, start, delete: deletion } = CONTAINER_PATIENCE;
    const stopStep: StepDefinition<MoveInput> = {
      name: 'stop',
      ...stop,
      isCancelable: true,
      params: () => ({ stoppedAtMs: this.deps.clock.now() }),
      run: (context) => this.stop(context),
    };
    return [
      ...(wasRunning ? [stopStep] : []),
      { name: 'copy', ...copy, isCancelable: true, weight: 20, run: (context) => this.copy(context) },
      { name: 'verify', ...verify, isCancelable: true, weight: 10, run: (context) => this.verify(context) },
      { name: 'commit', ...commit, run: (context) => this.commit(context) },
      { name: 'folder', ...folder, run: (context) => this.carryOverRecords(context) },
      ...(wasRunning
        ? [{ name: 'start', ...start, run: (context: StepContext<MoveInput>) => this.start(context) }]
        : []),
      ...(deleteSource
        ? [{ name: 'delete', ...deletion, run: (context: StepContext<MoveInput>) => this.deleteSource(context) }]
        : []),
    ];
  }

  async resume({ input, steps }: TaskJournal<MoveInput>, context: TaskContext): Promise<Resumption> {
    const ends = this.ends(input);
    await untilListed(this.deps, ends.ref);
    const state = await ends.receiver.state(ends.target);
    const last = steps.at(-1);
    context.log(`The service was restarted at the step ${last?.name ?? 'copy'}; the copy is ${state}.`);
    if (state === 'committed')
      return last?.name === 'commit' ? { action: 'finished', result: this.committed() } : { action: 'continue' };
    await ends.sender.release(ends.source);
    const isCopied = steps.some(({ name, isFinished }) => name === 'copy' && isFinished);
    if (isCopied && state === 'absent') return { action: 'rollback', reason: 'The copy no longer exists.' };
    return { action: 'continue' };
  }

  async rollback({ input, steps }: TaskJournal<MoveInput>, context: TaskContext): Promise<void> {
    const ends = this.ends(input);
    if ((await ends.receiver.state(ends.target)) === 'committed') return context.log('The copy is complete and stays.');
    await ends.receiver.discard(ends.target);
    context.log('The incomplete copy was removed.');
    await ends.sender.release(ends.source);
    if (steps.some(({ name }) => name === 'stop')) await this.startSource(ends, context);
  }

  result(journal: TaskJournal<MoveInput>): object {
    const { stoppedAtMs, committedAtMs } = timesOf(journal);
    const { writtenBytes } = journaledStep(journal, 'copy')?.result as Copied;
    return {
      destination: journal.input.destination,
      writtenBytes,
      ...(stoppedAtMs !== undefined && { downtimeSeconds: Math.round((committedAtMs - stoppedAtMs) / 1000) }),
    };
  }

  private ends(input: MoveInput): ContainerEnds {
    return new ContainerEnds(this.deps, input);
  }

  private async stop({ input }: StepContext<MoveInput>): Promise<void> {
    const ends = this.ends(input);
    const { ref } = ends;
    if (ends.expectContainer().phase === 'Stopped') return;
    await ends.containersOf(ref).stop(ref);
    await ends.untilPhase(ref, (phase) => phase === undefined || phase === 'Stopped', STOP_TIMEOUT_MS);
    const { phase } = ends.expectContainer();
    if (phase !== 'Stopped')
      throw new DomainError('BACKEND_TIMEOUT', `${ref.name} did not stop in time: it is ${phase}.`);
  }

  /** What an interrupted copy has left is replaced. */
  private async copy({ input, signal, bytes, log }: StepContext<MoveInput>): Promise<Copied> {
    const ends = this.ends(input);
    ends.expectStopped();
    const begunAtMs = this.deps.clock.now();
    const { container } = await ends.sender.describe(ends.ref);
    const spec = { ...ends.target, container, mapping: input.mapping };
    let writtenBytes = 0;
    for (const part of container.parts) {
      signal.throwIfAborted();
      const archive = await ends.sender.open(ends.source, { part, signal });
      const begun = writtenBytes;
      const report = (read: number): void => {
        writtenBytes = begun + read;
        bytes(writtenBytes, Math.max(writtenBytes, container.usedBytes ?? 0));
      };
      const counted = Readable.from(count(archive, report), { objectMode: false });
      await ends.receiver.receive(spec, { part, signal }, counted);
      log(`The part ${part} was copied: ${formatBytes(writtenBytes - begun)}.`);
    }
    return { parts: container.parts, writtenBytes, elapsedMs: this.deps.clock.now() - begunAtMs };
  }

  /** Both ends are read again, so that a change of the source since the copy shows as well. */
  private async verify({ input, signal, log, result }: StepContext<MoveInput>): Promise<Verified> {
    const ends = this.ends(input);
    const { parts, writtenBytes, elapsedMs } = result<Copied>('copy');
    const begunAtMs = this.deps.clock.now();
    const hashes: Record<string, string> = {};
    for (const name of parts) {
      signal.throwIfAborted();
      const part: TransferPart = { part: name, signal };
      const hash = await ends.sender.fingerprint(ends.source, part);
      signal.throwIfAborted();
      if (hash !== (await ends.receiver.fingerprint(ends.target, part)))
        throw new DomainError(
          'BACKEND_FAILED',
          `The part ${name} of the copy differs from that of ${ends.ref.name}: it was changed during the move, or can't be stored there as it is.`,
        );
      hashes[name] = hash;
      log(`The part ${name} is the same at both ends.`);
    }
    this.deps.throughput.record(writtenBytes, elapsedMs + this.deps.clock.now() - begunAtMs);
    return { hashes };
  }

  private async commit({ input, log }: StepContext<MoveInput>) {
    const ends = this.ends(input);
    const { target } = ends;
    ends.expectStopped();
    await ends.receiver.commit(target);
    const committed = this.committed();
    await ends.untilPhase(target.ref, (phase) => phase !== undefined && phase !== 'Pending');
    log(`${target.ref.name} is complete in ${target.ref.context}.`);
    return committed;
  }

  private committed() {
    return { committedAtMs: this.deps.clock.now() };
  }

  /** A container in no folder works as well, so a failure does not end the move. */
  private async carryOverRecords({ input, log }: StepContext<MoveInput>): Promise<CarriedOver> {
    const { source: ref, uid, destination } = input;
    try {
      const ends = this.ends(input);
      const { receiver, target } = ends;
      await ends.untilPhase(target.ref, (phase) => phase !== undefined, LIST_TIMEOUT_MS);
      const copy = this.deps.directory.get(target.ref)?.uid;
      // Looked at afterwards: a container that has replaced the copy is not of this move.
      if (copy === undefined || (await receiver.state(target)) !== 'committed')
        throw new DomainError('INSTANCE_NOT_FOUND', `${target.ref.name} is not in ${target.ref.context}.`);
      await this.deps.records.carryOver({ ref, uid }, { ref: destination, uid: copy });
      return { isCarriedOver: true };
    } catch (error) {
      log(`The copy could not be put into the folder of the source: ${messageOf(error)}`);
      return { isCarriedOver: false };
    }
  }

  /** Before the source is deleted: a copy that does not start is no reason to lose it. */
  private async start({ input, log }: StepContext<MoveInput>): Promise<void> {
    const ends = this.ends(input);
    const { ref } = ends.target;
    // Both have the same addresses.
    if (ends.container) ends.expectStopped();
    await ends.containersOf(ref).start(ref);
    await ends.untilPhase(ref, (phase) => phase === 'Running', START_TIMEOUT_MS);
    log(`${ref.name} was started in ${ref.context}.`);
  }

  private async deleteSource(context: StepContext<MoveInput>): Promise<void> {
    const { input, caller, result } = context;
    const ends = this.ends(input);
    const { ref } = ends;
    if (ends.container) {
      await this.expectUnchanged(ends, context);
      await this.deps.audit.of(caller, 'delete after move', ref, () => ends.containersOf(ref).delete(ref));
      await this.deps.directory.waitFor(ref, (found) => found?.uid !== input.uid);
    }
    // Also if it was deleted before a restart of the service.
    if (result<CarriedOver>('folder').isCarriedOver)
      await this.deps.records.forget({ ref: input.source, uid: input.uid });
  }

  /**
   * Other clients may have started, changed and stopped the source since it was compared, also while the service was
   * away. Their changes are nowhere else, so its content is read once more.
   */
  private async expectUnchanged(ends: ContainerEnds, { signal, result }: StepContext<MoveInput>): Promise<void> {
    const kept = 'The copy is complete, but the source is kept:';
    const { name } = ends.ref;
    const expectStopped = (): void => {
      const { phase } = ends.expectContainer();
      if (phase !== 'Stopped') throw new DomainError('WRONG_STATE', `${kept} ${name} is ${phase}.`);
    };
    expectStopped();
    for (const [part, hash] of Object.entries(result<Verified>('verify').hashes))
      if ((await ends.sender.fingerprint(ends.source, { part, signal })) !== hash)
        throw new DomainError('WRONG_STATE', `${kept} its part ${part} has changed since.`);
    expectStopped();
  }

  private async startSource(ends: ContainerEnds, context: TaskContext): Promise<void> {
    const { ref } = ends;
    await untilListed(this.deps, ref);
    if (!ends.container) return context.log('The source no longer exists.');
    if (ends.container.phase === 'Running') return;
    await ends.containersOf(ref).start(ref);
    await ends.untilPhase(ref, (phase) => phase === undefined || phase === 'Running', START_TIMEOUT_MS);
    context.log(`${ref.name} was started again.`);
  }
}

/** The same stream. @param report gets how much of it was read */
async function* count(stream: Readable, report: (bytes: number) => void): AsyncGenerator<Buffer> {
  let [read, reported] = [0, 0];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (read - reported >= REPORTED_BYTES) report((reported = read));
    yield chunk;
  }
  report(read);
}
