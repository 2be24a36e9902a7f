import { setImmediate as turn } from 'node:timers/promises';
import {
  buildPlan,
  DISK_BLOCK_BYTES,
  DomainError,
  formatRef,
  InstantRestore,
  messageOf,
  type DiskIngest,
  type IngestTarget,
  type InstanceRef,
  type InstantRestoreReport,
  type InstantRestoreSpec,
  type InstantRestoreState,
  type Plan,
} from '@headgate/domain-contracts';
import { withStatus, type MemoryEngine } from './memory-engine.js';

/** Copies block by block, while the status of the VM is `Running`, or `Paused` while a block can't be read. */
export class MemoryInstantRestore extends InstantRestore {
  /** The IDs of restores whose guest ran. */
  private readonly started = new Set<string>();
  private readonly complete = new Set<string>();
  private readonly running = new Set<string>();

  constructor(
    private readonly engine: MemoryEngine,
    private readonly ingest: DiskIngest,
  ) {
    super();
  }

  override async plan(ref: InstanceRef): Promise<Plan> {
    this.engine.expectReachable();
    return buildPlan([{ name: 'start', detail: `Start ${ref.name}.` }]);
  }

  override async run(
    spec: InstantRestoreSpec,
    report: InstantRestoreReport,
    signal: AbortSignal,
  ): Promise<'complete' | 'absent'> {
    if (this.running.has(spec.id)) throw new DomainError('BUSY', `${spec.ref.name} is being restored already.`);
    this.running.add(spec.id);
    try {
      const state = await this.state(spec);
      signal.throwIfAborted();
      if (state === 'absent' || state === 'complete') return state;
      if (state === 'blank') {
        await report.starting();
        await this.ingest.commit(spec);
        this.started.add(spec.id);
        this.engine.put(withStatus(this.engine.vm(spec.ref), 'Running'));
        report.started();
      }
      return await this.copy(spec, report, signal);
    } finally {
      this.running.delete(spec.id);
    }
  }

  override async state(target: IngestTarget): Promise<InstantRestoreState> {
    const state = await this.ingest.state(target);
    if (state === 'absent') return 'absent';
    if (!this.started.has(target.id)) return state === 'partial' ? 'blank' : 'complete';
    return this.complete.has(target.id) ? 'complete' : 'running';
  }

  override async discard(): Promise<void> {
    // Nothing serves the disks.
  }

  private async copy(
    spec: InstantRestoreSpec,
    { copied, waits }: InstantRestoreReport,
    signal: AbortSignal,
  ): Promise<'complete' | 'absent'> {
    const totalBytes = spec.disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    let doneBytes = 0;
    for (const disk of spec.disks) {
      const content = Buffer.alloc(disk.sizeBytes);
      for (let at = 0; at < disk.sizeBytes;) {
        await turn();
        signal.throwIfAborted();
        if ((await this.state(spec)) === 'absent') return 'absent';
        const length = Math.min(DISK_BLOCK_BYTES, disk.sizeBytes - at);
        try {
          (await disk.read(at, length)).copy(content, at);
        } catch (error) {
          this.exchange(spec, 'Running', 'Paused');
          waits(`The disk ${disk.name} of the backup can't be read: ${messageOf(error)}`);
          continue;
        }
        this.exchange(spec, 'Paused', 'Running');
        copied((doneBytes += length), totalBytes);
        at += length;
      }
      this.engine.disks.set(`${formatRef(spec.ref)} ${disk.name}`, content);
    }
    this.complete.add(spec.id);
    return 'complete';
  }

  private exchange({ ref }: InstantRestoreSpec, from: 'Running' | 'Paused', to: 'Running' | 'Paused'): void {
    const vm = this.engine.vm(ref);
    if (vm.status === from) this.engine.put(withStatus(vm, to));
  }
}
