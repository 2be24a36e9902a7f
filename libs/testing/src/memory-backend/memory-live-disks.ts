import { Readable } from 'node:stream';
import {
  DomainError,
  isRunningStatus,
  LiveDisks,
  type DiskChanges,
  type DiskExtent,
  type DiskRecording,
  type InstanceRef,
  type Refusal,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';
import { memoryDisk } from './memory-export.js';

const PART_BYTES = 64 * 1024;

export class MemoryLiveDisks extends LiveDisks {
  /** The content of a disk at each moment, by the ID of the recording and the name of the disk. */
  private readonly moments = new Map<string, Buffer[]>();

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  /** The IDs of the recordings that have not ended. */
  get recordings(): readonly string[] {
    return [...new Set([...this.moments.keys()].map((key) => key.slice(0, key.indexOf(' '))))];
  }

  /** Loses the changes of all recordings, as when the guest is killed. */
  lose(): void {
    for (const key of this.moments.keys()) this.moments.set(key, []);
  }

  override async check(ref: InstanceRef): Promise<readonly Refusal[]> {
    this.engine.vm(ref);
    return [];
  }

  override async open({ ref, id }: DiskRecording, disk: string, signal: AbortSignal): Promise<Readable> {
    const { status } = this.engine.vm(ref);
    if (!isRunningStatus(status)) throw new DomainError('WRONG_STATE', `${ref.name} is ${status}.`);
    const content = this.contentOf(ref, disk);
    signal.throwIfAborted();
    this.moments.set(`${id} ${disk}`, [content]);
    return Readable.from([content], { signal, objectMode: false });
  }

  override async changes(
    { ref, id }: DiskRecording,
    { disk, since }: { readonly disk: string; readonly since: number },
    signal: AbortSignal,
  ): Promise<DiskChanges> {
    const isLast = !isRunningStatus(this.engine.vm(ref).status);
    const content = this.contentOf(ref, disk);
    signal.throwIfAborted();
    const moments = this.moments.get(`${id} ${disk}`) ?? [];
    const before = moments[since - 1];
    if (!before)
      throw new DomainError('CHECKPOINT_INCONSISTENT', `The record of the changes of ${disk} is not complete.`);
    if (!isLast) this.moments.set(`${id} ${disk}`, [...moments.slice(0, since), content]);
    return {
      isLast,
      sizeBytes: this.engine.vm(ref).diskBytes,
      extents: differences(before, content),
      read: async (offset, length) => part(content, offset, length),
      close: async () => undefined,
    };
  }

  override async end({ id }: DiskRecording): Promise<void> {
    for (const key of [...this.moments.keys()]) if (key.startsWith(`${id} `)) this.moments.delete(key);
  }

  private contentOf(ref: InstanceRef, disk: string): Buffer {
    const disks = this.engine.portable.get(`vm/${ref.context}/${ref.namespace}/${ref.name}`)?.disks;
    if (!(disks?.map(({ name }) => name) ?? ['vda']).includes(disk))
      throw new DomainError('DEVICE_NOT_FOUND', `${ref.name} has no disk ${disk}.`);
    return Buffer.from(memoryDisk(this.engine, ref, disk));
  }
}

/** With zeros behind the end of the content. */
export function part(content: Buffer, offset: number, length: number): Buffer {
  const found = content.subarray(offset, offset + length);
  return Buffer.concat([found, Buffer.alloc(length - found.length)]);
}

export function differences(before: Buffer, after: Buffer): DiskExtent[] {
  const extents: DiskExtent[] = [];
  for (let offset = 0; offset < Math.max(before.length, after.length); offset += PART_BYTES)
    if (!part(before, offset, PART_BYTES).equals(part(after, offset, PART_BYTES)))
      extents.push({ offset, length: PART_BYTES });
  return extents;
}
