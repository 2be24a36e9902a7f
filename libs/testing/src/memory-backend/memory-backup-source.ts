import {
  BackupSource,
  DomainError,
  formatRef,
  isRunningStatus,
  type BackupConsistency,
  type BackupDisk,
  type BackupReadRequest,
  type BackupReading,
  type InstanceRef,
  type Refusal,
  type SavedDisks,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';
import { memoryDisk } from './memory-export.js';
import { differences, part } from './memory-live-disks.js';

interface Checkpoint {
  readonly name: string;
  readonly disks: ReadonlyMap<string, Buffer>;
}

/** Copies the disks at the moment of a backup, and keeps the copy as the checkpoint. */
export class MemoryBackupSource extends BackupSource {
  /** By the ref and the uid of the VM and the series. */
  private readonly checkpoints = new Map<string, Checkpoint>();
  private readonly reading = new Set<string>();
  private last = 0;
  /** Whether the agents of guests freeze their file systems. */
  freezes = true;
  /** Whether increments have their changes only, as copies of them do. */
  copiesFirst = false;
  /** The content of the disk `vda` in snapshots, by their names. */
  saved: ReadonlyMap<string, Buffer> = new Map();
  /** Runs before each read: a test may change the VM, or throw. */
  beforeRead: (ref: InstanceRef, disk: string) => void | Promise<void> = () => undefined;

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  /** How many readings are open. */
  get openReadings(): number {
    return this.reading.size;
  }

  /** The names of all checkpoints. */
  get kept(): readonly string[] {
    return [...this.checkpoints.values()].map(({ name }) => name);
  }

  /** Loses the changes since all checkpoints, as when guests are killed. */
  lose(): void {
    this.checkpoints.clear();
  }

  override async check(ref: InstanceRef): Promise<readonly Refusal[]> {
    this.engine.vm(ref);
    return this.reading.has(this.keyOf(ref)) ? [busy(ref)] : [];
  }

  override async open(
    ref: InstanceRef,
    { series, since }: BackupReadRequest,
    signal: AbortSignal,
  ): Promise<BackupReading> {
    const [refusal] = await this.check(ref);
    if (refusal) throw new DomainError(refusal.code, refusal.reason);
    signal.throwIfAborted();
    const { uid, status, diskBytes } = this.engine.vm(ref);
    const isRunning = isRunningStatus(status);
    const of = this.keyOf(ref);
    const key = `${of} ${series}`;
    const before = this.checkpoints.get(key);
    const isIncrement = isRunning && since !== undefined && before?.name === since;
    const declared = this.engine.portable.get(formatRef(ref))?.disks ?? [{ name: 'vda', sizeBytes: diskBytes }];
    const content = new Map(declared.map(({ name }) => [name, Buffer.from(memoryDisk(this.engine, ref, name))]));
    this.reading.add(of);
    const expectRunning = (): void => {
      if (!isRunning) return;
      const now = this.engine.has(ref) ? this.engine.vm(ref) : undefined;
      if (now?.uid !== uid || !isRunningStatus(now.status))
        throw new DomainError('WRONG_STATE', `${ref.name} has stopped.`);
    };
    const disks = declared.map(({ name, sizeBytes }): BackupDisk => {
      const whole = content.get(name) ?? Buffer.alloc(0);
      const changed = isIncrement ? differences(before.disks.get(name) ?? Buffer.alloc(0), whole) : 'all';
      const hasOnlyChanges = this.copiesFirst && changed !== 'all';
      const copy = hasOnlyChanges ? Buffer.alloc(whole.length) : whole;
      if (hasOnlyChanges) for (const { offset, length } of changed) whole.copy(copy, offset, offset, offset + length);
      return {
        name,
        sizeBytes,
        changed,
        ...(hasOnlyChanges && { hasOnlyChanges }),
        read: async (offset, length) => {
          await this.beforeRead(ref, name);
          expectRunning();
          return part(copy, offset, length);
        },
      };
    });
    const checkpoint = `${series}-${++this.last}`;
    const consistency: BackupConsistency = !isRunning ? 'stopped' : this.freezes ? 'frozen' : 'crash';
    return {
      disks,
      consistency,
      warnings: consistency === 'crash' ? ['The file systems are as after a power failure.'] : [],
      ...(since !== undefined && !isIncrement && { wholeReason: 'The changes since then are not known.' }),
      ...(isRunning && { checkpoint }),
      close: async ({ keep }) => {
        if (!this.reading.delete(of)) return;
        if (keep && isRunning) this.checkpoints.set(key, { name: checkpoint, disks: content });
      },
    };
  }

  override async openSnapshot(ref: InstanceRef, snapshot: string, signal: AbortSignal): Promise<SavedDisks> {
    signal.throwIfAborted();
    const of = this.keyOf(ref);
    const content = this.saved.get(snapshot);
    if (!content) throw new DomainError('SNAPSHOT_NOT_FOUND', `${ref.name} has no snapshot ${snapshot}.`);
    this.reading.add(of);
    const read = async (offset: number, length: number): Promise<Buffer> => part(content, offset, length);
    return {
      disks: [{ name: 'vda', sizeBytes: content.length, read }],
      close: async () => void this.reading.delete(of),
    };
  }

  override async end(ref: InstanceRef, series: string): Promise<void> {
    if (this.engine.has(ref)) this.checkpoints.delete(`${this.keyOf(ref)} ${series}`);
  }

  override async endAll(series: string): Promise<void> {
    for (const key of this.checkpoints.keys()) if (key.endsWith(` ${series}`)) this.checkpoints.delete(key);
  }

  private keyOf(ref: InstanceRef): string {
    return `${formatRef(ref)} ${this.engine.vm(ref).uid}`;
  }
}

const busy = ({ name }: InstanceRef): Refusal => ({
  code: 'BUSY',
  reason: `${name} is being backed up.`,
  remedy: 'Wait until that has ended.',
});
