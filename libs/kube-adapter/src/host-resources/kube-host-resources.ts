import {
  HostResources,
  parseKubernetesBytes,
  parseMillicores,
  type HostDevice,
  type HostTopology,
  type HugepagePool,
} from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import type { GuestSpec, NodeObject, VmiObject, VmObject } from '../api/object-types.js';
import { NODES, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import type { ClusterFacts, PermittedHostDevices } from '../discovery/cluster-facts.js';

export interface KubeHostResourcesDeps {
  readonly api: KubeApi;
  readonly discovery: ClusterDiscovery;
  /** The namespaces of VMs, for an account that may not list the whole cluster. */
  readonly namespaces?: readonly string[];
}

/** Vendors of PCI devices that make graphics cards, and little else that is passed through. */
const GPU_VENDORS = ['10DE', '1002'];
const HUGEPAGES = 'hugepages-';

/**
 * The CPUs, pages and devices that the nodes of a cluster offer to VMs. Source: KubeVirt's user guide on host devices.
 */
export class KubeHostResources extends HostResources {
  constructor(private readonly deps: KubeHostResourcesDeps) {
    super();
  }

  override async topology(): Promise<readonly HostTopology[]> {
    const nodes = await this.deps.api.list<NodeObject>(NODES);
    return nodes.map(topologyOf).sort((a, b) => (a.node < b.node ? -1 : 1));
  }

  override async devices(): Promise<readonly HostDevice[]> {
    const { api, discovery } = this.deps;
    const [facts, nodes, users] = await Promise.all([discovery.facts(), api.list<NodeObject>(NODES), this.users()]);
    const { permittedHostDevices = {} } = facts.kubevirt?.spec?.configuration ?? {};
    return permitted(permittedHostDevices)
      .map(({ name, label, isGpu }) => describe({ name, label, isGpu }, { facts, nodes, users }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** VMs by the resources that they have, or get at their next start. A VM is named once for each of its devices. */
  private async users(): Promise<Map<string, string[]>> {
    const { api, namespaces } = this.deps;
    const scopes = namespaces?.map((namespace) => ({ namespace })) ?? [undefined];
    const users = new Map<string, string[]>();
    for (const scope of scopes) {
      const [vms, vmis] = await Promise.all([
        api.list<VmObject>(VIRTUAL_MACHINES, scope),
        api.list<VmiObject>(VM_INSTANCES, scope),
      ]);
      const specs = new Map<string, GuestSpec[]>();
      for (const { metadata, spec } of vms) add(specs, `${metadata.namespace}/${metadata.name}`, spec?.template?.spec ?? {}); // prettier-ignore
      for (const { metadata, spec } of vmis) add(specs, `${metadata.namespace}/${metadata.name}`, spec ?? {});
      for (const [vm, own] of specs) {
        // A running VM and its configuration name the same devices.
        const counts = own.map(devicesOf);
        for (const device of new Set(counts.flatMap((of) => [...of.keys()]))) {
          const count = Math.max(...counts.map((of) => of.get(device) ?? 0));
          for (let i = 0; i < count; i++) add(users, device, vm);
        }
      }
    }
    return users;
  }
}

function add<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function devicesOf({ domain }: GuestSpec): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { deviceName } of [...(domain?.devices?.gpus ?? []), ...(domain?.devices?.hostDevices ?? [])]) {
    if (deviceName !== undefined) counts.set(deviceName, (counts.get(deviceName) ?? 0) + 1);
  }
  return counts;
}

interface PermittedResource {
  readonly name: string;
  readonly label: string;
  readonly isGpu: boolean;
}

function permitted({ pciHostDevices = [], mediatedDevices = [], usb = [] }: PermittedHostDevices): PermittedResource[] {
  const found = [
    ...pciHostDevices.map(({ resourceName: name, pciVendorSelector = '' }) => ({
      name,
      label: pciVendorSelector,
      isGpu: GPU_VENDORS.includes(pciVendorSelector.split(':')[0]?.toUpperCase() ?? ''),
    })),
    ...mediatedDevices.map(({ resourceName: name, mdevNameSelector = '' }) => ({
      name,
      label: mdevNameSelector,
      isGpu: true,
    })),
    ...usb.map(({ resourceName: name, selectors = [] }) => ({
      name,
      label: selectors.map(({ vendor = '', product = '' }) => `${vendor}:${product}`).join(', '),
      isGpu: false,
    })),
  ];
  // Several selectors may belong to one resource.
  return [...new Map(found.map((one) => [one.name, one])).values()];
}

interface ClusterState {
  readonly facts: ClusterFacts;
  readonly nodes: readonly NodeObject[];
  readonly users: ReadonlyMap<string, readonly string[]>;
}

function describe({ name, label, isGpu }: PermittedResource, { facts, nodes, users }: ClusterState): HostDevice {
  const offering = nodes.filter((node) => amountOf(node, name) > 0);
  const total = offering.reduce((sum, node) => sum + amountOf(node, name), 0);
  const usedBy = users.get(name) ?? [];
  return {
    name,
    label,
    isGpu,
    node: offering.length === 1 ? (offering[0]?.metadata.name ?? '') : '',
    kind: 'resource',
    driver: '',
    iommuGroup: null,
    total,
    usedBy: [...new Set(usedBy)],
    refusal: refusalOf({ name, isGpu, total, usedBy }, facts),
  };
}

/** Null if one more VM can have the device. */
function refusalOf(
  { name, isGpu, total, usedBy }: Pick<HostDevice, 'name' | 'isGpu' | 'total' | 'usedBy'>,
  facts: ClusterFacts,
): string | null {
  const gate = isGpu ? 'GPU' : 'HostDevices';
  if (!facts.isGateEnabled(gate)) return `KubeVirt's feature gate ${gate} is off.`;
  if (total === 0) return `No node offers ${name}.`;
  if (usedBy.length < total) return null;
  return `${total === 1 ? 'It is' : `All ${total} are`} used by ${[...new Set(usedBy)].join(', ')}.`;
}

const amountOf = ({ status }: NodeObject, resource: string): number => {
  const amount = status?.allocatable?.[resource];
  return amount === undefined ? 0 : parseMillicores(amount) / 1000;
};

export function topologyOf({ metadata, status }: NodeObject): HostTopology {
  const hugepages = Object.entries(status?.allocatable ?? {}).flatMap(([name, amount]): HugepagePool[] => {
    if (!name.startsWith(HUGEPAGES)) return [];
    const pageBytes = parseKubernetesBytes(name.slice(HUGEPAGES.length));
    return [{ pageBytes, total: Math.floor(bytesOf(amount) / pageBytes), free: null }];
  });
  return {
    node: metadata.name ?? '',
    cpus: '',
    offlineCpus: '',
    numaNodes: [],
    hugepages: hugepages.sort((a, b) => a.pageBytes - b.pageBytes),
    reservesCpus: metadata.labels?.['cpumanager'] === 'true',
  };
}

/** Nodes report `0` for sizes of which they have no pages. */
const bytesOf = (amount: string): number => (/^0/.test(amount) ? 0 : parseKubernetesBytes(amount));
