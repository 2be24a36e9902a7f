import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import {
  backupImageName,
  buildPlan,
  completeAtEnd,
  DomainError,
  formatRef,
  InstanceBackups,
  isIncremental,
  isRunningStatus,
  type BackupRequest,
  type Checkpoint,
  type InstanceRef,
  type Plan,
} from '@headgate/domain-contracts';
import { memoryDisk, qcow2Of } from './memory-export.js';
import type { MemoryEngine } from './memory-engine.js';

/** The disk of each VM is a boot sector and its name, which never changes: an increment has no content. */
export class MemoryBackups extends InstanceBackups {
  /** By the ref and the uid of the VM. */
  private readonly checkpoints = new Map<string, readonly string[]>();
  /** Checkpoints whose record of changes is lost, by the ref of the VM and their name. */
  readonly inconsistent = new Set<string>();
  private readonly running = new Set<string>();

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async list(ref: InstanceRef): Promise<readonly Checkpoint[]> {
    const isRunning = isRunningStatus(this.engine.vm(ref).status);
    return this.of(ref).map((name) => {
      const isLost = this.inconsistent.has(`${formatRef(ref)} ${name}`);
      const reason = isLost ? 'Its record of changes is lost.' : 'The VM is not running.';
      const creationTime = new Date(0).toISOString();
      return isRunning && !isLost
        ? { name, creationTime, ready: true, changedBytes: 0 }
        : { name, creationTime, ready: false, reason };
    });
  }

  override async check(ref: InstanceRef, request: BackupRequest): Promise<void> {
    const { status } = this.engine.vm(ref);
    const names = this.of(ref);
    if (!isRunningStatus(status)) throw new DomainError('WRONG_STATE', `${ref.name} is ${status}: start it first.`);
    if (isIncremental(request)) {
      this.find(ref, request.since);
      if (this.inconsistent.has(`${formatRef(ref)} ${request.since}`))
        throw new DomainError('CHECKPOINT_INCONSISTENT', `The record of changes since ${request.since} is lost.`);
    }
    const { checkpoint } = request;
    if (checkpoint !== undefined && names.includes(checkpoint))
      throw new DomainError('ALREADY_EXISTS', `${ref.name} already has a checkpoint ${checkpoint}.`);
    this.expectFree(ref);
  }

  override async open(ref: InstanceRef, request: BackupRequest, signal: AbortSignal): Promise<Readable> {
    await this.check(ref, request);
    signal.throwIfAborted();
    const key = this.keyOf(ref);
    this.running.add(key);
    const stream = Readable.from([contentOf(this.engine, ref, request)], { signal, objectMode: false });
    return completeAtEnd(stream, async (isComplete) => {
      this.running.delete(key);
      if (isComplete && request.checkpoint !== undefined)
        this.checkpoints.set(key, [...(this.checkpoints.get(key) ?? []), request.checkpoint]);
    });
  }

  override async planDelete(ref: InstanceRef, name: string): Promise<Plan> {
    this.find(ref, name);
    return buildPlan([{ name: 'delete', detail: name }]);
  }

  override async delete(ref: InstanceRef, name: string): Promise<void> {
    this.expectFree(ref);
    this.find(ref, name);
    this.checkpoints.set(
      this.keyOf(ref),
      this.of(ref).filter((one) => one !== name),
    );
  }

  private of(ref: InstanceRef): readonly string[] {
    return this.checkpoints.get(this.keyOf(ref)) ?? [];
  }

  private keyOf(ref: InstanceRef): string {
    return `${formatRef(ref)} ${this.engine.vm(ref).uid}`;
  }

  private find(ref: InstanceRef, name: string): void {
    if (this.of(ref).includes(name)) return;
    throw new DomainError('CHECKPOINT_NOT_FOUND', `${ref.name} has no checkpoint ${name}.`);
  }

  private expectFree(ref: InstanceRef): void {
    if (this.running.has(this.keyOf(ref)))
      throw new DomainError('BUSY', `${ref.name} is being exported: wait until that has ended.`);
  }
}

function contentOf(engine: MemoryEngine, ref: InstanceRef, request: BackupRequest): Buffer {
  if (isIncremental(request)) return qcow2Of(Buffer.alloc(0), backupImageName(ref.name, request.since));
  const disk = memoryDisk(engine, ref);
  return request.format === 'qcow2' ? qcow2Of(disk) : gzipSync(disk);
}
