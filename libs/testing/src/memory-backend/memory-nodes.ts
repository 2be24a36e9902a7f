import {
  DomainError,
  isRunningStatus,
  isVm,
  NodeScheduling,
  refusal,
  type BackgroundWork,
  type ClusterNode,
  type Instance,
  type InstanceRef,
  type LeavingInstance,
  type NodeDrain,
  type OperationKey,
  type OperationState,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';
import type { MemoryMigration } from './memory-instances.js';

/** VMs leave their node with a migration, containers by a start on another node. */
export class MemoryNodeScheduling extends NodeScheduling {
  constructor(
    private readonly engine: MemoryEngine,
    private readonly migration: MemoryMigration,
  ) {
    super();
  }

  override async setSchedulable(name: string, isSchedulable: boolean): Promise<boolean> {
    const node = this.node(name);
    if ((node.unschedulable === '') === isSchedulable) return false;
    const unschedulable = isSchedulable ? '' : 'The node is cordoned.';
    this.engine.nodes.splice(this.engine.nodes.indexOf(node), 1, {
      ...node,
      unschedulable,
      isCordoned: !isSchedulable,
    });
    return true;
  }

  override async drainOf(name: string): Promise<NodeDrain> {
    this.node(name);
    const candidates = this.engine.nodes
      .filter((node) => node.name !== name && node.ready && node.unschedulable === '')
      .map((node) => node.name);
    const instances = this.engine.all().filter((one) => one.node === name && isOn(one));
    return {
      cpusPerCpu: 1,
      instances: instances.map((one) => leaving(one, candidates)),
      others: 0,
      unchecked: [],
    };
  }

  override async leave(ref: InstanceRef, name: string, key: OperationKey): Promise<BackgroundWork | undefined> {
    if (this.node(name).unschedulable === '')
      throw new DomainError('WRONG_STATE', `${name} was uncordoned, which ends its drain.`);
    if (ref.kind === 'vm') {
      if (this.engine.vm(ref).node !== name) return undefined;
      return this.migration.migrate(ref, undefined, key);
    }
    if (this.engine.container(ref).node !== name) return undefined;
    this.engine.setState(key, 'running');
    return this.restart(ref, key);
  }

  override async stateOf(ref: InstanceRef, _name: string, key: OperationKey): Promise<OperationState> {
    return this.migration.stateOf(ref, key);
  }

  override async resume(ref: InstanceRef, _name: string, key: OperationKey): Promise<BackgroundWork> {
    return ref.kind === 'vm' ? this.migration.resume(ref, key) : this.restart(ref, key);
  }

  override async discard(ref: InstanceRef, _name: string, key: OperationKey): Promise<void> {
    if (ref.kind === 'vm') await this.migration.discard(ref, key);
    else this.engine.operations.delete(key.id);
  }

  private restart(ref: InstanceRef, key: OperationKey): BackgroundWork {
    return async (report) => {
      report.step('Start it elsewhere');
      report.signal.throwIfAborted();
      this.engine.put({ ...this.engine.container(ref), node: this.engine.chooseNode() });
      this.engine.setState(key, 'done');
      report.progress(1);
    };
  }

  private node(name: string): ClusterNode {
    this.engine.expectReachable();
    const found = this.engine.nodes.find((node) => node.name === name);
    if (!found) throw new DomainError('NODE_NOT_FOUND', `There is no node named ${name}.`);
    return found;
  }
}

const isOn = (one: Instance): boolean => (isVm(one) ? isRunningStatus(one.status) : one.phase === 'Running');

function leaving(one: Instance, candidates: readonly string[]): LeavingInstance {
  const { ref, memoryBytes } = one;
  const isBusy = isVm(one) && one.status !== 'Running';
  const denied = isBusy
    ? refusal('WRONG_STATE', `${ref.name} is not running.`, 'Shut it down.')
    : candidates.length === 0
      ? refusal('WRONG_STATE', 'There is no other node that is ready.', 'Add a node.')
      : undefined;
  return {
    ref,
    way: isVm(one) ? 'migrate' : 'restart',
    cpu: isVm(one) ? one.cpu : 0,
    memoryBytes,
    candidates,
    unchecked: [],
    losses: [],
    ...(denied && { refusal: denied }),
  };
}
