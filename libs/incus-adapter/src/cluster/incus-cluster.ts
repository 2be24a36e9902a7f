import {
  ClusterInventory,
  DomainError,
  type AffectedInstance,
  type ClusterNetwork,
  type ClusterNode,
  type ClusterStorage,
  type InstancetypeNames,
  type NetworkDetails,
  type NodeFailure,
  type StorageCapabilities,
} from '@headgate/domain-contracts';
import { nameOf } from '../api/incus-api.js';
import type { InstanceObject } from '../api/incus-objects.js';
import { refOf } from '../engine/api-names.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { DEFAULT_PROJECT } from '../incus-traits.js';
import { cpusOf, memoryOf } from '../inventory/limits.js';
import { choosePool } from '../provisioning/choose-pool.js';
import { describeNetworks } from './describe-networks.js';
import { describePools } from './describe-pools.js';
import { readMembers, type Member } from './read-members.js';

/** The option of a cluster that starts the instances of a failed member elsewhere. */
const HEALING = 'cluster.healing_threshold';
const RUNNING = 'Running';
const NO_LOCATION = 'none';

/** A server is a cluster of its members, or of one node. */
export class IncusCluster extends ClusterInventory {
  constructor(private readonly engine: IncusEngine) {
    super();
  }

  override async nodes(): Promise<readonly ClusterNode[]> {
    const { api } = this.engine;
    const [{ environment }, members] = await Promise.all([api.server(), readMembers(api)]);
    const version = environment ? `${nameOf(environment.server)} ${environment.server_version}` : 'unknown';
    return members.map((member) => toNode(member, version));
  }

  override async storage(): Promise<StorageCapabilities> {
    // The containers of this context keep their data in volumes that are not resized here.
    return { storageClass: await this.defaultPool(), canExpand: false, canSnapshot: false };
  }

  override instancetypes(): Promise<InstancetypeNames> {
    return Promise.resolve({ instancetypes: [], preferences: [], sizes: [] });
  }

  override async networks(): Promise<readonly ClusterNetwork[]> {
    const all = await describeNetworks(this.engine.api, this.project, []);
    return all.filter(({ isActive }) => isActive).map(({ namespace, name }) => ({ namespace, name }));
  }

  override async storages(): Promise<readonly ClusterStorage[]> {
    const [instances, defaultPool] = await Promise.all([this.engine.finder.all(), this.defaultPool()]);
    return describePools(this.engine.api, instances, defaultPool);
  }

  override async networkDetails(): Promise<readonly NetworkDetails[]> {
    return describeNetworks(this.engine.api, this.project, await this.engine.finder.all());
  }

  override async failureOf(node: string): Promise<NodeFailure> {
    const { api, context, finder } = this.engine;
    const [members, instances, { config = {} }] = await Promise.all([readMembers(api), finder.all(), api.readServer()]);
    const failed = members.find(({ name }) => name === node);
    if (!failed) throw new DomainError('NODE_NOT_FOUND', `There is no node named ${node}.`);
    const others = members.filter(({ name, isOnline }) => isOnline && name !== node).map(({ name }) => name);
    const staysDown = reasonToStayDown(others, Number(config[HEALING] ?? 0) > 0);
    const toAffected = (instance: InstanceObject): AffectedInstance => ({
      ref: refOf(context, instance),
      ...sizeOf(instance, failed),
      staysDown,
      candidates: staysDown === '' ? others : [],
      unchecked: [],
    });
    return {
      cpusPerCpu: 1,
      instances: instances
        .filter(({ status, location }) => status === RUNNING && (location === NO_LOCATION || location === node))
        .map(toAffected),
      unchecked: ['Whether their disks are in a storage pool that the members share was not checked.'],
    };
  }

  /** The project whose networks and default pool are shown. */
  private get project(): string {
    return this.engine.project ?? DEFAULT_PROJECT;
  }

  /** Empty when the server has none. */
  private async defaultPool(): Promise<string> {
    try {
      const { api, pool: configured } = this.engine;
      return (await choosePool(api, this.project, { requested: '', configured })).pool;
    } catch (error) {
      if (DomainError.is(error, 'NOT_READY', 'INVALID_INPUT')) return '';
      throw error;
    }
  }
}

function reasonToStayDown(others: readonly string[], heals: boolean): string {
  if (others.length === 0) return 'The server has no other member that could start it.';
  return heals ? '' : `The server starts instances of a failed member elsewhere only if ${HEALING} is set.`;
}

const sizeOf = (
  { expanded_config: config }: InstanceObject,
  { resources }: Member,
): Pick<AffectedInstance, 'cpu' | 'memoryBytes'> => {
  const host = { cpus: resources?.cpu.total ?? 1, memoryBytes: resources?.memory.total ?? 0 };
  return { cpu: cpusOf(config['limits.cpu'], host), memoryBytes: memoryOf(config['limits.memory'], host) };
};

function toNode({ name, roles, isOnline, state, failureDomain, resources }: Member, version: string): ClusterNode {
  const cpuMillicores = resources ? resources.cpu.total * 1000 : null;
  const memoryBytes = resources?.memory.total ?? null;
  return {
    name,
    ready: isOnline,
    roles: roles.join(','),
    kubelet: version,
    arch: resources?.cpu.architecture ?? '',
    cpuMillicores,
    memoryBytes,
    // The server keeps nothing back for the host.
    allocatable: { cpuMillicores, memoryBytes },
    zone: failureDomain === 'default' ? '' : failureDomain,
    unschedulable: isOnline ? '' : `The server starts no instances on it (${state}).`,
  };
}
