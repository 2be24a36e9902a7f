import {
  ClusterInventory,
  type ClusterNode,
  type InstancetypeNames,
  type StorageCapabilities,
} from '@headgate/domain-contracts';
import { attribute, element, parseXml, text } from '../domain-xml/xml.js';
import type { Virsh } from '../virsh/virsh.js';

/** One machine. */
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

  /** Growing a disk and snapshots are abilities that this adapter does not offer. */
  override storage(): Promise<StorageCapabilities> {
    return Promise.resolve({ storageClass: this.poolName, canExpand: false, canSnapshot: false });
  }

  override instancetypes(): Promise<InstancetypeNames> {
    return Promise.resolve({ instancetypes: [], preferences: [] });
  }
}

/** `libvirt 9.0.0, QEMU 7.2.22`, from the output of `virsh version`. */
export function versionText(output: string): string {
  const libvirt = /Using library: libvirt (\S+)/.exec(output)?.[1];
  const hypervisor = /Running hypervisor: (\S+ \S+)/.exec(output)?.[1];
  return [libvirt && `libvirt ${libvirt}`, hypervisor].filter(Boolean).join(', ');
}

/** The host's architecture, from the output of `virsh capabilities`. */
export const archOf = (capabilities: string): string => {
  const host = element(element(parseXml(capabilities), 'capabilities'), 'host');
  return text(element(host, 'cpu'), 'arch') ?? attribute(element(host, 'cpu'), 'arch') ?? '';
};
