import {
  ClusterInventory,
  type ClusterNetwork,
  type ClusterNode,
  type ClusterStorage,
  DomainError,
  type InstancetypeNames,
  type NetworkDetails,
  type NodeFailure,
  type StorageCapabilities,
  type StorageSpace,
} from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import { LOCAL_NAMESPACE } from '../domains/instance-name.js';
import { archOf } from '../host/host.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { describeNetworks } from './describe-networks.js';
import { describePools } from './describe-pools.js';
import { readDomains } from './read-domains.js';

/** A libvirt connection is a cluster of one node. */
export class LibvirtCluster extends ClusterInventory {
  constructor(
    private readonly connection: LibvirtConnection,
    private readonly pool: Pick<StoragePool, 'name' | 'space'>,
    private readonly finder: DomainFinder,
  ) {
    super();
  }

  override async nodes(): Promise<readonly ClusterNode[]> {
    const [hostname, version, capabilities, { cpus, memoryBytes }] = await Promise.all([
      this.connection.host.hostname(),
      this.connection.host.version(),
      this.connection.host.capabilities(),
      this.connection.host.node(),
    ]);
    return [
      {
        name: hostname,
        ready: true,
        roles: 'hypervisor',
        kubelet: version,
        arch: archOf(capabilities),
        cpuMillicores: cpus * 1000,
        memoryBytes,
        // libvirt keeps nothing back for the host.
        allocatable: { cpuMillicores: cpus * 1000, memoryBytes },
        zone: '',
        unschedulable: '',
      },
    ];
  }

  /** This adapter neither grows disks nor takes snapshots. */
  override async storage(): Promise<StorageCapabilities> {
    // Fails if libvirt can't be reached.
    await this.connection.host.hostname();
    return { storageClass: this.pool.name, canExpand: false, canSnapshot: false };
  }

  override async storageSpace(): Promise<readonly StorageSpace[]> {
    const { name } = this.pool;
    const space = await this.pool.space();
    if (!space?.isActive) return [];
    return [{ storage: name, freeBytes: space.availableBytes, requiredBytes: SPACE_WATERMARK_BYTES }];
  }

  override instancetypes(): Promise<InstancetypeNames> {
    return Promise.resolve({ instancetypes: [], preferences: [], sizes: [] });
  }

  /** Only active ones: a VM with a card in another network would not start. */
  override async networks(): Promise<readonly ClusterNetwork[]> {
    const names = await this.connection.networks.list('active');
    return names.sort().map((name) => ({ namespace: LOCAL_NAMESPACE, name }));
  }

  override async storages(): Promise<readonly ClusterStorage[]> {
    const domains = await readDomains(this.connection, this.finder);
    return describePools(this.connection, { domains, defaultPool: this.pool.name });
  }

  override async networkDetails(): Promise<readonly NetworkDetails[]> {
    return describeNetworks(this.connection, await readDomains(this.connection, this.finder));
  }

  /** A context is one machine, and libvirt starts no VM of a machine on another one. */
  override async failureOf(node: string): Promise<NodeFailure> {
    const hostname = await this.connection.host.hostname();
    if (node !== hostname) throw new DomainError('NODE_NOT_FOUND', `There is no node named ${node}.`);
    const domains = await readDomains(this.connection, this.finder);
    const running = domains.filter(({ isActive }) => isActive);
    return {
      cpusPerCpu: 1,
      instances: running.map(({ ref, description: { cpu, memoryBytes } }) => ({
        ref,
        cpu,
        memoryBytes,
        staysDown: 'libvirt does not start the VMs of a machine on another one.',
        candidates: [],
        unchecked: [],
      })),
      unchecked: ['Whether the disks of its VMs can be reached from another machine was not checked.'],
    };
  }
}
