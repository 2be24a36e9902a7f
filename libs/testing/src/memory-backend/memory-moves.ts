import { Readable } from 'node:stream';
import {
  buildPlan,
  DiskIngest,
  DiskSource,
  DomainError,
  formatRef,
  hashesOf,
  loss,
  throwFirstRefusal,
  type DiskUpdate,
  type DiskWriter,
  type IngestPlan,
  type IngestSpec,
  type IngestState,
  type IngestTarget,
  type InstanceRef,
  type PortableDisk,
  type Loss,
  type PortableVm,
  type Refusal,
  type VirtualMachine,
  type VmReading,
} from '@headgate/domain-contracts';
import { buildVm } from '../builders.js';
import { withStatus, type MemoryEngine } from './memory-engine.js';
import { memoryDisk } from './memory-export.js';

const NETWORKS = ['', 'lan-1', 'lan-2'];
/** The name of the variables of the firmware among the disks. */
const VARIABLES = 'variables';
/** Tests update small disks. */
const MAX_UPDATED_BYTES = 64 * 1024 ** 2;
/** More than this does not fit into the memory of a test. */
const MAX_DISK_BYTES = 1024 ** 4;

const bootDiskOf = ({ diskBytes }: VirtualMachine): PortableDisk => ({
  name: 'vda',
  sizeBytes: diskBytes,
  usedBytes: null,
  bus: 'virtio',
});

export class MemoryDiskSource extends DiskSource {
  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async describe(ref: InstanceRef): Promise<VmReading> {
    return { vm: this.portable(ref), refusals: [], warnings: [], losses: [] };
  }

  override async open(ref: InstanceRef, disk: string, signal: AbortSignal): Promise<Readable> {
    const { status } = this.engine.vm(ref);
    if (status !== 'Stopped') throw new DomainError('WRONG_STATE', `${ref.name} is ${status}: stop it first.`);
    if (!this.portable(ref).disks.some(({ name }) => name === disk))
      throw new DomainError('DEVICE_NOT_FOUND', `${ref.name} has no disk ${disk}.`);
    signal.throwIfAborted();
    return Readable.from([memoryDisk(this.engine, ref, disk)], { signal });
  }

  override async readFirmwareVariables(ref: InstanceRef): Promise<Buffer> {
    const content = this.engine.disks.get(`${formatRef(ref)} ${VARIABLES}`);
    if (content) return content;
    throw new DomainError('DEVICE_NOT_FOUND', `The firmware of ${ref.name} has no variables.`);
  }

  private portable(ref: InstanceRef): PortableVm {
    const vm = this.engine.vm(ref);
    const variables = this.engine.disks.get(`${formatRef(ref)} ${VARIABLES}`);
    return {
      ...(variables && { firmwareVariables: { sizeBytes: variables.length } }),
      cpu: vm.cpu,
      memoryBytes: vm.memoryBytes,
      tags: vm.tags,
      arch: 'x86_64',
      firmware: 'bios',
      tpm: false,
      autostart: false,
      disks: [bootDiskOf(vm)],
      nics: [],
      ...this.engine.portable.get(formatRef(ref)),
    };
  }
}

export class MemoryDiskIngest extends DiskIngest {
  /** The IDs of VMs that are or were received, by the uid of the VM. */
  private readonly ids = new Map<string, string>();

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async check(): Promise<void> {
    this.engine.expectReachable();
  }

  override async plan({ ref, vm, mapping }: IngestSpec): Promise<IngestPlan> {
    this.engine.expectReachable();
    const refusals: Refusal[] = [];
    const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
      void refusals.push({ code, reason, remedy });
    if (this.engine.has(ref)) refuse('ALREADY_EXISTS', `${ref.name} already exists.`, 'Choose another name.');
    if (vm.disks.reduce((sum, disk) => sum + disk.sizeBytes, 0) > MAX_DISK_BYTES)
      refuse('INSUFFICIENT_STORAGE', 'The memory is full.', 'Free some space.');
    for (const { network } of vm.nics) {
      const mapped = mapping.networks[network] ?? network;
      if (!NETWORKS.includes(mapped))
        refuse('INVALID_INPUT', `There is no network ${mapped}.`, `Map ${network} to one of ${NETWORKS.join(', ')}.`);
    }
    const losses = vm.autostart ? [loss('placement', 'Autostart.', 'info')] : [];
    return {
      ...buildPlan([{ name: 'receive', detail: ref.name }], { refusals }),
      losses,
      firmwareVariables: true,
      format: 'raw',
      availableBytes: MAX_DISK_BYTES,
    };
  }

  override async begin(spec: IngestSpec): Promise<readonly Loss[]> {
    throwFirstRefusal(await this.plan(spec));
    const { id, ref, vm, mapping } = spec;
    const uid = this.engine.nextUid();
    const { cpu, memoryBytes, tags, disks } = vm;
    const created = buildVm({ ref, uid, cpu, memoryBytes, tags, backend: this.engine.kind });
    const nics = vm.nics.map((nic) => ({ ...nic, network: mapping.networks[nic.network] ?? nic.network }));
    this.ids.set(uid, id);
    this.engine.portable.set(formatRef(ref), { ...vm, nics });
    for (const { name } of disks) this.engine.disks.set(`${formatRef(ref)} ${name}`, Buffer.alloc(0));
    this.engine.put({ ...created, diskBytes: disks[0]?.sizeBytes ?? 0, status: 'Provisioning' });
    return [];
  }

  override async write(target: IngestTarget, disk: string, signal: AbortSignal): Promise<DiskWriter> {
    const { key, sizeBytes } = this.partialDisk(target, disk);
    let content = Buffer.alloc(0);
    return {
      write: async (offset, data) => {
        signal.throwIfAborted();
        if (offset < content.length || offset + data.length > sizeBytes)
          throw new DomainError('BACKEND_FAILED', `There is no room at ${offset}.`);
        content = Buffer.concat([content, Buffer.alloc(offset - content.length), data]);
      },
      finish: async () => void this.engine.disks.set(key, content),
      abort: async () => undefined,
    };
  }

  override get updateProblem(): undefined {
    return undefined;
  }

  override async update(target: IngestTarget, disk: string, signal: AbortSignal): Promise<DiskUpdate> {
    const { key, sizeBytes } = this.partialDisk(target, disk);
    const content = Buffer.alloc(Math.min(sizeBytes, MAX_UPDATED_BYTES));
    this.engine.disks.get(key)?.copy(content);
    return {
      read: async (offset, length) => Buffer.from(content.subarray(offset, offset + length)),
      write: async (offset, data) => {
        signal.throwIfAborted();
        if (offset + data.length > content.length)
          throw new DomainError('BACKEND_FAILED', `There is no room at ${offset}.`);
        data.copy(content, offset);
      },
      finish: async () => void this.engine.disks.set(key, content),
      abort: async () => undefined,
    };
  }

  override async *hashes(target: IngestTarget, disk: string, signal: AbortSignal): AsyncIterable<string> {
    const { key } = this.partialDisk(target, disk);
    yield* hashesOf(Readable.from([this.engine.disks.get(key) ?? Buffer.alloc(0)], { signal }));
  }

  override async writeFirmwareVariables(target: IngestTarget, content: Buffer): Promise<void> {
    this.partialVm(target);
    this.engine.disks.set(`${formatRef(target.ref)} ${VARIABLES}`, content);
  }

  override async readFirmwareVariables(target: IngestTarget): Promise<Buffer> {
    this.partialVm(target);
    return this.engine.disks.get(`${formatRef(target.ref)} ${VARIABLES}`) ?? Buffer.alloc(0);
  }

  override async commit(target: IngestTarget): Promise<void> {
    const state = await this.state(target);
    if (state === 'absent') throw new DomainError('INSTANCE_NOT_FOUND', `${target.ref.name} no longer exists.`);
    if (state === 'partial') this.engine.put(withStatus(this.engine.vm(target.ref), 'Stopped'));
  }

  override async discard(target: IngestTarget): Promise<void> {
    const state = await this.state(target);
    if (state === 'committed') throw new DomainError('WRONG_STATE', `${target.ref.name} is complete.`);
    if (state === 'partial') this.engine.remove(target.ref);
  }

  override async state({ id, ref }: IngestTarget): Promise<IngestState> {
    this.engine.expectReachable();
    if (!this.engine.has(ref)) return 'absent';
    const vm = this.engine.vm(ref);
    if (this.ids.get(vm.uid) !== id) return 'absent';
    return vm.status === 'Provisioning' ? 'partial' : 'committed';
  }

  private partialVm({ id, ref }: IngestTarget): void {
    const vm = this.engine.vm(ref);
    if (this.ids.get(vm.uid) !== id) throw new DomainError('INSTANCE_NOT_FOUND', `${ref.name} is another VM.`);
    if (vm.status !== 'Provisioning') throw new DomainError('WRONG_STATE', `${ref.name} is complete.`);
  }

  private partialDisk(target: IngestTarget, disk: string): { readonly key: string; readonly sizeBytes: number } {
    this.partialVm(target);
    const { ref } = target;
    const found = this.engine.portable.get(formatRef(ref))?.disks?.find(({ name }) => name === disk);
    if (!found) throw new DomainError('DEVICE_NOT_FOUND', `${ref.name} has no disk ${disk}.`);
    return { key: `${formatRef(ref)} ${disk}`, sizeBytes: found.sizeBytes };
  }
}
