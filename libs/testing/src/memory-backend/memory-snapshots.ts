import {
  DomainError,
  InstanceCloning,
  InstanceSnapshots,
  buildPlan,
  formatRef,
  isRunningStatus,
  isVm,
  throwFirstRefusal,
  type AcceptedClone,
  type AcceptedSnapshotWork,
  type BackgroundWork,
  type InstanceRef,
  type OperationKey,
  type OperationState,
  type Plan,
  type Refusal,
  type Snapshot,
  type SnapshotOperation,
  type SnapshotRequest,
} from '@headgate/domain-contracts';
import { withPhase, withStatus, type MemoryEngine } from './memory-engine.js';

const SECOND_MS = 1000;

export class MemorySnapshots extends InstanceSnapshots {
  /** The snapshots of all instances so far, each of which has another time. */
  private created = 0;
  /** By the ref and the uid of the instance. */
  private readonly snapshots = new Map<string, readonly Snapshot[]>();

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async list(ref: InstanceRef): Promise<readonly Snapshot[]> {
    return this.of(ref);
  }

  override async planCreate(ref: InstanceRef, { name, memory = false }: SnapshotRequest): Promise<Plan> {
    const refusals: Refusal[] = [];
    if (this.of(ref).some((one) => one.name === name))
      refusals.push({
        code: 'ALREADY_EXISTS',
        reason: `${ref.name} already has a snapshot ${name}.`,
        remedy: 'Choose another name.',
      });
    if (memory && ref.kind === 'ct')
      refusals.push({
        code: 'NOT_SUPPORTED',
        reason: 'The memory of containers is not saved.',
        remedy: 'Omit memory.',
      });
    else if (memory && !this.engine.isRunning(ref))
      refusals.push({ code: 'WRONG_STATE', reason: `${ref.name} is not running.`, remedy: 'Omit memory.' });
    return buildPlan([{ name: 'snapshot', detail: name }], { refusals });
  }

  override async create(ref: InstanceRef, request: SnapshotRequest, key?: OperationKey): Promise<AcceptedSnapshotWork> {
    throwFirstRefusal(await this.planCreate(ref, request));
    const saved: Snapshot = {
      name: request.name,
      phase: 'Succeeded',
      creationTime: new Date(this.created++ * SECOND_MS).toISOString(),
      ready: true,
      ...(request.memory === true && { memory: true }),
    };
    this.replace(ref, [...this.of(ref), saved]);
    this.engine.setState(key, 'done');
    return {};
  }

  override async planRestore(ref: InstanceRef, name: string): Promise<Plan> {
    this.find(ref, name);
    return buildPlan([{ name: 'restore', detail: name }]);
  }

  override async restore(ref: InstanceRef, name: string, key?: OperationKey): Promise<BackgroundWork> {
    const { memory = false } = this.find(ref, name);
    return async (report) => {
      const isRunning = this.engine.isRunning(ref);
      if (isRunning) {
        report.step('shut down');
        this.engine.setRunning(ref, false);
      }
      this.engine.setState(key, 'running');
      await report.commit?.(`The disks of ${ref.name} are replaced.`);
      report.step('restore');
      if (memory || (key?.wasRunning ?? isRunning)) this.engine.setRunning(ref, true);
      this.engine.setState(key, 'done');
    };
  }

  override async stateOf(ref: InstanceRef, { id }: SnapshotOperation): Promise<OperationState> {
    this.engine.instance(ref);
    return this.engine.stateOf(id);
  }

  override resume(ref: InstanceRef, { snapshot, ...key }: SnapshotOperation): Promise<BackgroundWork> {
    return this.restore(ref, snapshot, key);
  }

  override async discard(ref: InstanceRef, { id, wasRunning, kind }: SnapshotOperation): Promise<void> {
    const isRunning = this.engine.isRunning(ref);
    if (this.engine.stateOf(id).state === 'done') return;
    this.engine.operations.delete(id);
    if (kind === 'restore' && wasRunning && !isRunning) this.engine.setRunning(ref, true);
  }

  override async planDelete(ref: InstanceRef, name: string): Promise<Plan> {
    this.find(ref, name);
    return buildPlan([{ name: 'delete', detail: name }]);
  }

  override async delete(ref: InstanceRef, name: string, key?: OperationKey): Promise<AcceptedSnapshotWork> {
    this.find(ref, name);
    this.replace(
      ref,
      this.of(ref).filter((one) => one.name !== name),
    );
    this.engine.setState(key, 'done');
    return {};
  }

  private of(ref: InstanceRef): readonly Snapshot[] {
    return this.snapshots.get(this.keyOf(ref)) ?? [];
  }

  private replace(ref: InstanceRef, snapshots: readonly Snapshot[]): void {
    this.snapshots.set(this.keyOf(ref), snapshots);
  }

  private keyOf(ref: InstanceRef): string {
    return `${formatRef(ref)} ${this.engine.instance(ref).uid}`;
  }

  private find(ref: InstanceRef, name: string): Snapshot {
    const found = this.of(ref).find((one) => one.name === name);
    if (found) return found;
    throw new DomainError('SNAPSHOT_NOT_FOUND', `${ref.name} has no snapshot ${name}.`);
  }
}

export class MemoryCloning extends InstanceCloning {
  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async planClone(source: InstanceRef, target: InstanceRef): Promise<Plan> {
    const refusals: Refusal[] = [];
    const isRunning = this.engine.isRunning(source);
    if (isRunning && source.kind === 'vm')
      refusals.push({ code: 'WRONG_STATE', reason: `${source.name} runs.`, remedy: 'Stop it first.' });
    if (this.engine.has(target))
      refusals.push({
        code: 'ALREADY_EXISTS',
        reason: `${target.name} already exists.`,
        remedy: 'Choose another name.',
      });
    return buildPlan([{ name: 'clone', detail: `${source.name} to ${target.name}` }], { refusals });
  }

  override async clone(source: InstanceRef, target: InstanceRef, key?: OperationKey): Promise<AcceptedClone> {
    throwFirstRefusal(await this.planClone(source, target));
    const instance = this.engine.instance(source);
    const { name } = target;
    const uid = this.engine.nextUid();
    if (isVm(instance)) {
      const copy = { ...instance, ref: { ...instance.ref, name }, uid, tags: [], isTemplate: false };
      this.engine.put(withStatus(copy, 'Stopped'));
    } else this.engine.put(withPhase({ ...instance, ref: { ...instance.ref, name }, uid, tags: [] }, 'Stopped'));
    this.engine.setState(key, 'done');
    return {};
  }

  override async stateOf(_source: InstanceRef, _target: InstanceRef, { id }: OperationKey): Promise<OperationState> {
    this.engine.expectReachable();
    return this.engine.stateOf(id);
  }

  /** Clones are done when they were requested. */
  override async resume(): Promise<BackgroundWork> {
    return async () => undefined;
  }

  override async discard(): Promise<void> {}

  override async planTemplate(ref: InstanceRef, on: boolean): Promise<Plan> {
    const { status, isTemplate } = this.engine.vm(ref);
    const refusals: Refusal[] =
      on && isRunningStatus(status)
        ? [{ code: 'WRONG_STATE', reason: `${ref.name} runs.`, remedy: 'Stop it first.' }]
        : [];
    return buildPlan(isTemplate === on ? [] : [{ name: on ? 'mark' : 'unmark', detail: ref.name }], { refusals });
  }

  override async setTemplate(ref: InstanceRef, on: boolean): Promise<void> {
    throwFirstRefusal(await this.planTemplate(ref, on));
    this.engine.put({ ...this.engine.vm(ref), isTemplate: on });
  }
}
