import type { AddressRange, InstanceRef, NetworkDetails } from '@headgate/domain-contracts';
import type { KubeObject } from '../api/kube-object.js';
import type { VmObject } from '../api/object-types.js';
import { NETWORK_ATTACHMENTS, VIRTUAL_MACHINES } from '../api/resources.js';
import { listIfServed, listScopedIfServed, refOf, type ClusterScope } from './cluster-scope.js';
import { sortedOnce } from './describe-storage.js';

interface AttachmentObject extends KubeObject {
  /** `config` is the JSON of a CNI configuration; empty if it is a file of the nodes. */
  readonly spec?: { readonly config?: string };
}

/** The fields of CNI plugins that are shown. Source: https://www.cni.dev/plugins/current/ */
interface CniPlugin {
  readonly type?: string;
  readonly bridge?: string;
  readonly master?: string;
  readonly ipam?: {
    readonly type?: string;
    readonly range?: string;
    readonly subnet?: string;
    readonly range_start?: string;
    readonly range_end?: string;
  };
}

/** The network attachment definitions, and the VMs with a card in them. */
export async function describeNetworks(scope: ClusterScope): Promise<NetworkDetails[]> {
  // A cluster without Multus or KubeVirt does not serve one of them.
  const [attachments, vms] = await Promise.all([
    listIfServed<AttachmentObject>(scope.api, NETWORK_ATTACHMENTS),
    listScopedIfServed<VmObject>(scope, VIRTUAL_MACHINES),
  ]);
  const users = usersOf(scope.context, vms);
  return attachments
    .map(({ metadata: { namespace = '', name = '' }, spec }) => ({
      namespace,
      name,
      isActive: true,
      ...describeConfig(spec?.config),
      users: sortedOnce(users.get(`${namespace}/${name}`) ?? []),
    }))
    .sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
}

/** Of a list of plugins, the first creates the interface. Any client may write anything into the text. */
export function describeConfig(config = ''): Pick<NetworkDetails, 'mode' | 'bridge' | 'addresses' | 'dhcp'> {
  const { type, bridge, master, ipam } = pluginOf(config);
  const subnet = textOf(ipam?.range) || textOf(ipam?.subnet);
  return {
    mode: textOf(type),
    bridge: textOf(bridge) || textOf(master),
    addresses: subnet === '' ? [] : [subnet],
    dhcp: rangeOf(textOf(ipam?.range_start), textOf(ipam?.range_end)),
  };
}

function pluginOf(config: string): CniPlugin {
  try {
    const parsed = JSON.parse(config) as (CniPlugin & { readonly plugins?: readonly CniPlugin[] }) | null;
    const plugin = Array.isArray(parsed?.plugins) ? parsed.plugins[0] : parsed;
    return plugin ?? {};
  } catch {
    return {};
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const rangeOf = (start: string, end: string): AddressRange[] => (start && end ? [{ start, end }] : []);

function usersOf(context: string, vms: readonly VmObject[]): Map<string, InstanceRef[]> {
  const users = new Map<string, InstanceRef[]>();
  for (const vm of vms) {
    for (const { multus } of vm.spec?.template?.spec?.networks ?? []) {
      if (multus?.networkName === undefined) continue;
      const { networkName } = multus;
      const name = networkName.includes('/') ? networkName : `${vm.metadata.namespace}/${networkName}`;
      users.set(name, [...(users.get(name) ?? []), refOf(context, 'vm', vm)]);
    }
  }
  return users;
}
