import {
  DomainError,
  NodeScheduling,
  type BackgroundWork,
  type InstanceRef,
  type NodeDrain,
  type OperationKey,
  type OperationState,
} from '@headgate/domain-contracts';
import { KubeApiError } from '../api/kube-api-error.js';
import type { NodeObject, VmiObject } from '../api/object-types.js';
import { NODES, VM_INSTANCES } from '../api/resources.js';
import type { ClusterScope } from '../cluster/cluster-scope.js';
import type { KubeContainers } from '../containers/kube-containers.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import type { KubeMigration } from '../migration/kube-migration.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { ContainerDeparture } from './container-departure.js';
import { describeDrain, expectGuestToLeave } from './describe-drain.js';

export interface NodeSchedulingDeps extends WatchDeps {
  readonly discovery: ClusterDiscovery;
  readonly migration: KubeMigration;
  readonly containers: KubeContainers;
  readonly scope: Omit<ClusterScope, 'api'>;
}

/**
 * Cordons nodes as kubectl does. VMs leave a node with VirtualMachineInstanceMigrations of their own, as KubeVirt's
 * controller creates them for an eviction: so a VM that can't migrate is never shut down.
 */
export class KubeNodeScheduling extends NodeScheduling {
  private readonly departure: ContainerDeparture;

  constructor(private readonly deps: NodeSchedulingDeps) {
    super();
    this.departure = new ContainerDeparture(deps.api, deps.clock, deps.containers);
  }

  override async setSchedulable(node: string, isSchedulable: boolean): Promise<boolean> {
    const { api } = this.deps;
    const found = await this.node(node);
    if ((found.spec?.unschedulable === true) !== isSchedulable) return false;
    try {
      // A server that does not know the field as false keeps it: kubectl removes it, too.
      await api.patch(NODES, { name: node }, { spec: { unschedulable: isSchedulable ? null : true } });
    } catch (error) {
      if (!KubeApiError.has(error, 403)) throw error;
      throw new DomainError(
        'BACKEND_FORBIDDEN',
        `The account of the service may not change the nodes of ${this.deps.scope.context}. Apply deploy/kustomize/node-scheduling.`,
        { cause: error },
      );
    }
    return true;
  }

  override async drainOf(node: string): Promise<NodeDrain> {
    const { api, scope, discovery } = this.deps;
    return describeDrain({ api, ...scope }, await discovery.facts(), node);
  }

  override async leave(ref: InstanceRef, node: string, key: OperationKey): Promise<BackgroundWork | undefined> {
    const { spec } = await this.node(node);
    if (spec?.unschedulable !== true)
      throw new DomainError('WRONG_STATE', `${node} was uncordoned, which ends its drain: ${ref.name} stays there.`);
    if (ref.kind === 'ct') return this.departure.begin(ref, node);
    const { api, migration } = this.deps;
    const vmi = await api.find<VmiObject>(VM_INSTANCES, ref);
    if (vmi?.status?.nodeName !== node) return undefined;
    expectGuestToLeave(ref, vmi);
    return migration.migrate(ref, undefined, key);
  }

  override stateOf(ref: InstanceRef, node: string, key: OperationKey): Promise<OperationState> {
    if (ref.kind === 'ct') return this.departure.stateOf(ref, node);
    return this.deps.migration.stateOf(ref, { ...key, node });
  }

  override async resume(ref: InstanceRef, node: string, key: OperationKey): Promise<BackgroundWork> {
    if (ref.kind === 'ct') return this.departure.work(ref, node);
    return this.deps.migration.resume(ref, { ...key, node });
  }

  override async discard(ref: InstanceRef, node: string, key: OperationKey): Promise<void> {
    if (ref.kind === 'ct') await this.departure.discard(ref);
    else await this.deps.migration.discard(ref, { ...key, node });
  }

  /** @throws DomainError NODE_NOT_FOUND */
  private async node(name: string): Promise<NodeObject> {
    const found = await this.deps.api.find<NodeObject>(NODES, { name });
    if (!found) throw new DomainError('NODE_NOT_FOUND', `There is no node named ${name}.`);
    return found;
  }
}
