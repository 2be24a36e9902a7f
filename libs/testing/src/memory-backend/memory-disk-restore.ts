import { Readable } from 'node:stream';
import {
  buildPlan,
  DiskRestore,
  DomainError,
  formatRef,
  hashesOf,
  throwFirstRefusal,
  type DiskRestorePlan,
  type DiskRestoreSpec,
  type DiskRestoreState,
  type DiskRestoreTarget,
  type DiskWriter,
  type InstanceRef,
  type PortableDisk,
  type Refusal,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

const MAX_DISK_BYTES = 1024 ** 4;
const VARIABLES = 'variables';

interface Attempt {
  readonly spec: DiskRestoreSpec;
  readonly contents: Map<string, Buffer>;
  variables?: Buffer;
  state: DiskRestoreState;
}

/** Keeps new content next to the disks, and exchanges it in one step. */
export class MemoryDiskRestore extends DiskRestore {
  private readonly attempts = new Map<string, Attempt>();

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async plan(spec: DiskRestoreSpec): Promise<DiskRestorePlan> {
    const { ref, uid, mode, disks } = spec;
    const refusals: Refusal[] = [];
    const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
      void refusals.push({ code, reason, remedy });
    const vm = this.engine.vm(ref);
    if (vm.uid !== uid) refuse('WRONG_STATE', `${ref.name} is another VM.`, 'Choose another VM.');
    if (mode === 'replace' && vm.status !== 'Stopped')
      refuse('WRONG_STATE', `${ref.name} is ${vm.status}.`, 'Stop it first.');
    if ([...this.attempts.values()].some(({ spec: other, state }) => state === 'partial' && other.uid === uid))
      refuse('BUSY', `The disks of ${ref.name} are being restored.`, 'Wait until that has ended.');
    if (disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > MAX_DISK_BYTES)
      refuse('INSUFFICIENT_STORAGE', 'The memory is full.', 'Free some space.');
    const present = new Map(this.disksOf(ref).map((disk) => [disk.name, disk]));
    const warnings: string[] = [];
    if (mode === 'replace')
      for (const { name } of disks) {
        if (!present.has(name))
          refuse('DEVICE_NOT_FOUND', `${ref.name} has no disk ${name}.`, 'Restore it as an additional disk.');
        else warnings.push(`The present content of ${name} is lost.`);
      }
    return { ...buildPlan([{ name: mode, detail: ref.name }], { refusals, warnings }), firmwareVariables: true };
  }

  override async begin(spec: DiskRestoreSpec): Promise<void> {
    throwFirstRefusal(await this.plan(spec));
    this.attempts.set(spec.id, { spec, contents: new Map(), state: 'partial' });
  }

  override async write(target: DiskRestoreTarget, disk: string, signal: AbortSignal): Promise<DiskWriter> {
    const { attempt, sizeBytes } = this.partialDisk(target, disk);
    let content = Buffer.alloc(0);
    return {
      write: async (offset, data) => {
        signal.throwIfAborted();
        if (offset < content.length || offset + data.length > sizeBytes)
          throw new DomainError('BACKEND_FAILED', `There is no room at ${offset}.`);
        content = Buffer.concat([content, Buffer.alloc(offset - content.length), data]);
      },
      finish: async () => void attempt.contents.set(disk, content),
      abort: async () => undefined,
    };
  }

  override async *hashes(target: DiskRestoreTarget, disk: string, signal: AbortSignal): AsyncIterable<string> {
    const { attempt } = this.partialDisk(target, disk);
    yield* hashesOf(Readable.from([attempt.contents.get(disk) ?? Buffer.alloc(0)], { signal }));
  }

  override async writeFirmwareVariables(target: DiskRestoreTarget, content: Buffer): Promise<void> {
    this.partial(target).variables = content;
  }

  override async commit(target: DiskRestoreTarget): Promise<void> {
    if ((await this.state(target)) === 'committed') return;
    const { ref } = target;
    const attempt = this.partial(target);
    const { mode, disks } = attempt.spec;
    const vm = this.engine.vm(ref);
    if (mode === 'replace' && vm.status !== 'Stopped')
      throw new DomainError('WRONG_STATE', `${ref.name} was started meanwhile.`);
    const present = this.disksOf(ref);
    const taken = new Set(present.map(({ name }) => name));
    const next = new Map(present.map((disk) => [disk.name, disk]));
    for (const { name, sizeBytes } of disks) {
      const as = mode === 'replace' ? name : freeName(taken);
      taken.add(as);
      next.set(as, { usedBytes: null, bus: 'virtio', ...next.get(as), name: as, sizeBytes });
      this.engine.disks.set(`${formatRef(ref)} ${as}`, attempt.contents.get(name) ?? Buffer.alloc(0));
    }
    if (attempt.variables) this.engine.disks.set(`${formatRef(ref)} ${VARIABLES}`, attempt.variables);
    this.engine.portable.set(formatRef(ref), {
      ...this.engine.portable.get(formatRef(ref)),
      disks: [...next.values()],
    });
    attempt.state = 'committed';
    this.engine.put({ ...vm, diskBytes: [...next.values()][0]?.sizeBytes ?? vm.diskBytes });
  }

  override async discard(target: DiskRestoreTarget): Promise<void> {
    const state = await this.state(target);
    if (state === 'committed') throw new DomainError('WRONG_STATE', `The disks of ${target.ref.name} are restored.`);
    this.attempts.delete(target.id);
  }

  override async state({ id, ref, uid }: DiskRestoreTarget): Promise<DiskRestoreState> {
    this.engine.expectReachable();
    if (!this.engine.has(ref) || this.engine.vm(ref).uid !== uid) return 'absent';
    return this.attempts.get(id)?.state ?? 'absent';
  }

  private disksOf(ref: InstanceRef): readonly PortableDisk[] {
    const { diskBytes } = this.engine.vm(ref);
    const boot: PortableDisk = { name: 'vda', sizeBytes: diskBytes, usedBytes: null, bus: 'virtio' };
    return this.engine.portable.get(formatRef(ref))?.disks ?? [boot];
  }

  private partial({ id, ref, uid }: DiskRestoreTarget): Attempt {
    const attempt = this.attempts.get(id);
    if (!attempt || this.engine.vm(ref).uid !== uid)
      throw new DomainError('INSTANCE_NOT_FOUND', `No disks of ${ref.name} are being restored.`);
    if (attempt.state !== 'partial') throw new DomainError('WRONG_STATE', `The disks of ${ref.name} are restored.`);
    return attempt;
  }

  private partialDisk(
    target: DiskRestoreTarget,
    disk: string,
  ): { readonly attempt: Attempt; readonly sizeBytes: number } {
    const attempt = this.partial(target);
    const found = attempt.spec.disks.find(({ name }) => name === disk);
    if (!found) throw new DomainError('DEVICE_NOT_FOUND', `The disk ${disk} is not being restored.`);
    return { attempt, sizeBytes: found.sizeBytes };
  }
}

function freeName(taken: ReadonlySet<string>): string {
  for (const letter of 'bcdefghijklmnopqrstuvwxyz') if (!taken.has(`vd${letter}`)) return `vd${letter}`;
  throw new DomainError('WRONG_STATE', 'The VM has too many disks.');
}
