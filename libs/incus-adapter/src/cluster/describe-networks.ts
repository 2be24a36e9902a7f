import type { AddressRange, NetworkDetails } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { Config, InstanceObject } from '../api/incus-objects.js';
import { namespaceOf } from '../engine/api-names.js';
import { usersOf } from './users-of.js';

export interface NetworkObject {
  readonly name: string;
  readonly type: string;
  readonly managed: boolean;
  readonly status: string;
  readonly config: Config;
  readonly used_by: readonly string[] | null;
}

/** The networks of a project that instances can be attached to: managed ones, and bridges of the host. */
export async function describeNetworks(
  api: IncusApi,
  project: string,
  instances: readonly InstanceObject[],
): Promise<NetworkDetails[]> {
  const networks = await api.get<readonly NetworkObject[]>('/1.0/networks', { recursion: 1, project });
  return networks
    .filter(({ managed, type }) => managed || type === 'bridge')
    .map((network) => ({
      namespace: namespaceOf(project),
      name: network.name,
      ...describeNetwork(network),
      users: usersOf(api.context, network.used_by, instances),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** https://linuxcontainers.org/incus/docs/main/reference/network_bridge/ */
export function describeNetwork({
  name,
  type,
  managed,
  status,
  config,
}: NetworkObject): Pick<NetworkDetails, 'mode' | 'bridge' | 'isActive' | 'addresses' | 'dhcp'> {
  const isNat = config['ipv4.nat'] === 'true' || config['ipv6.nat'] === 'true';
  const isBridge = type === 'bridge';
  return {
    mode: isNat ? 'nat' : type,
    bridge: isBridge ? name : (config.parent ?? ''),
    isActive: !managed || status === 'Created',
    addresses: [config['ipv4.address'], config['ipv6.address']].filter(isAddress),
    dhcp: [config['ipv4.dhcp.ranges'], config['ipv6.dhcp.ranges']].flatMap(rangesOf),
  };
}

/** Other values are `none` and `auto`. */
const isAddress = (text: string | undefined): text is string => text?.includes('/') ?? false;

/** @param text such as `10.0.0.2-10.0.0.9,10.0.0.20-10.0.0.29` */
const rangesOf = (text: string | undefined): AddressRange[] =>
  (text ?? '').split(',').flatMap((range) => {
    const [start = '', end = ''] = range.trim().split('-');
    return start === '' || end === '' ? [] : [{ start, end }];
  });
