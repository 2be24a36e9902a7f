import {
  DISK_BLOCK_BYTES,
  formatBytes,
  type Clock,
  type Resumption,
  type StepContext,
  type StepDefinition,
  type TaskContext,
  type TaskJournal,
} from '@headgate/domain-contracts';
import { copyContent } from '../disks/copy-content.js';
import { compareFirmwareVariables, copyFirmwareVariables } from '../disks/firmware-variables.js';
import type { Throughput } from '../estimates/throughput.js';
import type { MoveInput } from '../move-input.js';
import { lossesOf, disksOf, journaledStep, sizeOf, timesOf, type CopySteps, type Verified } from './copy-steps.js';
import type { MoveStrategy } from './move-strategy.js';
import { PATIENCE } from './patience.js';

export interface ColdMoveDeps {
  readonly throughput: Throughput;
  readonly clock: Clock;
}

interface Copied {
  readonly writtenBytes: number;
  /** How long the copy took. Absent in the journals of older releases. */
  readonly elapsedMs?: number;
}

/** A move that stops the guest, copies its disks and compares both ends. */
export class ColdMove implements MoveStrategy {
  constructor(
    private readonly deps: ColdMoveDeps,
    private readonly shared: CopySteps,
  ) {}

  steps({ wasRunning, deleteSource }: MoveInput): readonly StepDefinition<MoveInput>[] {
    const { shared } = this;
    return [
      shared.reserve,
      ...(wasRunning ? [shared.stop] : []),
      { name: 'copy', ...PATIENCE.copy, isCancelable: true, weight: 20, run: (context) => this.copy(context) },
      { name: 'verify', ...PATIENCE.verify, isCancelable: true, weight: 10, run: (context) => this.verify(context) },
      shared.commit,
      shared.folder,
      ...(deleteSource ? [shared.delete] : []),
    ];
  }

  resume(journal: TaskJournal<MoveInput>, context: TaskContext): Promise<Resumption> {
    return this.shared.resume(journal, context);
  }

  rollback(journal: TaskJournal<MoveInput>, context: TaskContext): Promise<void> {
    return this.shared.rollback(journal, context);
  }

  result(journal: TaskJournal<MoveInput>): object {
    const { stoppedAtMs, committedAtMs, shutdownSeconds } = timesOf(journal);
    const { writtenBytes } = journaledStep(journal, 'copy')?.result as Copied;
    return {
      destination: journal.input.destination,
      ...lossesOf(journal),
      writtenBytes,
      ...(shutdownSeconds !== undefined && { shutdownSeconds }),
      ...(stoppedAtMs !== undefined && { downtimeSeconds: Math.round((committedAtMs - stoppedAtMs) / 1000) }),
    };
  }

  private async copy(context: StepContext<MoveInput>): Promise<Copied> {
    const { input, signal } = context;
    const ends = this.shared.ends(input);
    const disks = disksOf(context);
    const totalBytes = sizeOf(disks);
    const begunAtMs = this.deps.clock.now();
    let [doneBytes, writtenBytes] = [0, 0];
    for (const { name, sizeBytes } of disks) {
      const report = (offset: number): void => context.bytes(doneBytes + Math.min(offset, sizeBytes), totalBytes);
      writtenBytes += await copyContent(ends, { disk: name, report, signal });
      signal.throwIfAborted();
      doneBytes += sizeBytes;
      context.log(`The disk ${name} was copied.`);
    }
    if (input.copiesFirmwareVariables) context.log(await copyFirmwareVariables(ends));
    context.log(`${formatBytes(writtenBytes)} of ${formatBytes(totalBytes)} were written, the rest is zeros.`);
    return { writtenBytes, elapsedMs: this.deps.clock.now() - begunAtMs };
  }

  private async verify(context: StepContext<MoveInput>): Promise<Verified> {
    const { input, signal } = context;
    const ends = this.shared.ends(input);
    const disks = disksOf(context);
    const totalBytes = sizeOf(disks);
    const hashes: Record<string, string> = {};
    const begunAtMs = this.deps.clock.now();
    let doneBytes = 0;
    for (const { name, sizeBytes } of disks) {
      hashes[name] = await ends.compare(name, signal, (block) =>
        context.bytes(doneBytes + Math.min(block * DISK_BLOCK_BYTES, sizeBytes), totalBytes),
      );
      signal.throwIfAborted();
      doneBytes += sizeBytes;
    }
    const variablesHash = input.copiesFirmwareVariables && (await compareFirmwareVariables(ends));
    const { writtenBytes, elapsedMs } = context.result<Copied>('copy');
    if (elapsedMs !== undefined)
      this.deps.throughput.record(writtenBytes, elapsedMs + this.deps.clock.now() - begunAtMs);
    context.log('The disks of both ends are equal.');
    return { hashes, ...(variablesHash && { variablesHash }) };
  }
}
