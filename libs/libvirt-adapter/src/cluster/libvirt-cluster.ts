import {
  ClusterInventory,
  type ClusterNode,
  type InstancetypeNames,
  type StorageCapabilities,
} from '@headgate/domain-contracts';
import { archOf, versionText } from '../host/host.js';
import type { Virsh } from '../virsh/virsh.js';

/** A libvirt connection is a cluster of one node. */
export class LibvirtCluster extends ClusterInventory {
  constructor(
    private readonly virsh: Virsh,
    private readonly poolName: string,
  ) {
    super();
  }

  override async nodes(): Promise<readonly ClusterNode[]> {
    const [hostname, version, capabilities] = await Promise.all([
      this.virsh.run(['hostname']),
      this.virsh.run(['version']),
      this.virsh.run(['capabilities']),
    ]);
    return [
      {
        name: hostname.trim(),
        ready: true,
        roles: 'hypervisor',
        kubelet: versionText(version),
        arch: archOf(capabilities),
      },
    ];
  }

  /** This adapter neither grows disks nor takes snapshots. */
  override async storage(): Promise<StorageCapabilities> {
    // Fails if libvirt can't be reached.
    await this.virsh.run(['hostname']);
    return { storageClass: this.poolName, canExpand: false, canSnapshot: false };
  }

  override instancetypes(): Promise<InstancetypeNames> {
    return Promise.resolve({ instancetypes: [], preferences: [] });
  }
}
