import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  buildPlan,
  ContainerTransfer,
  DomainError,
  formatRef,
  throwFirstRefusal,
  type Container,
  type ContainerReading,
  type IngestState,
  type InstanceRef,
  type PortableContainer,
  type Refusal,
  type TransferEnd,
  type TransferPart,
  type TransferPlan,
  type TransferSpec,
} from '@headgate/domain-contracts';
import { buildContainer } from '../builders.js';
import { withPhase, type MemoryEngine } from './memory-engine.js';

/** The parts of every container, in the order in which they are received. */
const PARTS = ['data', 'root'];
const FORMAT = 'memory';

type Description = Pick<Container, 'image' | 'cpu' | 'memoryBytes' | 'privileged' | 'tags'>;

/** Containers whose file systems are single buffers: the `disks` of the engine. */
export class MemoryContainerTransfer extends ContainerTransfer {
  /** The refs of the copies by the IDs of their transfers, until they are complete, and after it. */
  private readonly received = new Map<string, string>();

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async check(): Promise<void> {
    this.engine.expectReachable();
  }

  override async describe(ref: InstanceRef): Promise<ContainerReading> {
    this.engine.container(ref);
    const container: PortableContainer = {
      format: FORMAT,
      arch: 'x86_64',
      parts: PARTS,
      usedBytes: PARTS.reduce((sum, part) => sum + this.content(ref, part).length, 0),
      profiles: [],
      networks: [],
      ...this.engine.portableContainers.get(formatRef(ref)),
    };
    return { container, refusals: [], warnings: [], losses: [] };
  }

  override async open({ ref }: TransferEnd, { part, signal }: TransferPart): Promise<Readable> {
    const { image, cpu, memoryBytes, privileged, tags } = this.stopped(ref);
    signal.throwIfAborted();
    const description: Description = { image, cpu, memoryBytes, privileged, tags };
    const head = Buffer.from(`${JSON.stringify(description)}\n`);
    return Readable.from([head, this.content(ref, part)], { signal });
  }

  override async fingerprint({ ref }: TransferEnd, { part }: TransferPart): Promise<string> {
    this.stopped(ref);
    return createHash('sha256').update(this.content(ref, part)).digest('hex');
  }

  override async plan({ ref, container }: TransferSpec): Promise<TransferPlan> {
    this.engine.expectReachable();
    const refusals: Refusal[] = [];
    if (this.engine.has(ref)) {
      refusals.push({ code: 'ALREADY_EXISTS', reason: `${ref.name} already exists.`, remedy: 'Choose another name.' });
    }
    if ((container.usedBytes ?? 0) > this.engine.freeBytes) {
      const reason = `${ref.name} does not fit.`;
      refusals.push({ code: 'INSUFFICIENT_STORAGE', reason, remedy: 'Free some space.' });
    }
    const steps = [{ name: 'create', detail: ref.name }];
    return { ...buildPlan(steps, { refusals }), losses: [], availableBytes: this.engine.freeBytes };
  }

  override async receive(spec: TransferSpec, { part, signal }: TransferPart, archive: Readable): Promise<void> {
    const { id, ref } = spec;
    if (part === PARTS[0]) {
      await this.discard(spec);
      throwFirstRefusal(await this.plan(spec));
    }
    this.received.set(id, formatRef(ref));
    const content = await buffer(archive);
    signal.throwIfAborted();
    this.engine.expectReachable();
    const end = content.indexOf('\n');
    const description = JSON.parse(content.toString('utf8', 0, end)) as Description;
    this.engine.disks.set(`${formatRef(ref)} ${part}`, content.subarray(end + 1));
    const copy = buildContainer({ ref, uid: id, backend: this.engine.kind, ...description });
    this.engine.put({ ...withPhase(copy, 'Stopped'), phase: 'Pending' });
  }

  override async commit(target: TransferEnd): Promise<void> {
    const copy = this.copyAt(target);
    if (!copy) throw new DomainError('INSTANCE_NOT_FOUND', `There is no copy ${target.ref.name}.`);
    if (copy.phase === 'Pending') this.engine.setPhase(copy, 'Stopped');
  }

  override async discard(target: TransferEnd): Promise<void> {
    const state = await this.state(target);
    if (state === 'committed') throw new DomainError('WRONG_STATE', `${target.ref.name} is complete.`);
    if (state === 'partial') this.engine.remove(target.ref);
  }

  override async state(target: TransferEnd): Promise<IngestState> {
    const copy = this.copyAt(target);
    if (copy) return copy.phase === 'Pending' ? 'partial' : 'committed';
    return 'absent';
  }

  override async release(): Promise<void> {
    this.engine.expectReachable();
  }

  private copyAt({ id, ref }: TransferEnd): Container | undefined {
    this.engine.expectReachable();
    const isHere = this.received.get(id) === formatRef(ref) && this.engine.has(ref);
    const found = isHere ? this.engine.container(ref) : undefined;
    return found?.uid === id ? found : undefined;
  }

  private stopped(ref: InstanceRef): Container {
    const container = this.engine.container(ref);
    if (container.phase === 'Stopped' || container.phase === 'Pending') return container;
    throw new DomainError('WRONG_STATE', `${ref.name} is ${container.phase}: stop it first.`);
  }

  private content(ref: InstanceRef, part: string): Buffer {
    return this.engine.disks.get(`${formatRef(ref)} ${part}`) ?? Buffer.from(`the ${part} of a container`);
  }
}
