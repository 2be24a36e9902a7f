import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import { attribute, element, elements, parseXml } from '../xml/xml.js';

/**
 * Addresses that are no guest's, whatever a network says: this machine, local services such as the metadata of clouds,
 * multicast, and IPv4 in the form of IPv6.
 */
const NEVER = {
  ipv4: ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4'],
  ipv6: ['::/96', '::ffff:0:0/96', '64:ff9b::/96', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
} as const;

/** Modes in which libvirt runs a bridge of its own, with a DHCP server. Without a mode, the network is isolated. */
const OWN_MODES: readonly (string | undefined)[] = [undefined, 'nat', 'route', 'open'];

/**
 * The addresses of a running domain that libvirt's DHCP servers have leased to its network cards, IPv4 first. Each one
 * is in the subnet that the server of that network gives addresses from, and is no address of this machine.
 * @throws DomainError when libvirt does not answer
 */
export async function leasedAddresses(
  connection: LibvirtConnection,
  { uuid, nics }: Pick<DomainDescription, 'uuid' | 'nics'>,
): Promise<string[]> {
  const networkOf = new Map(
    nics.filter(({ type, source }) => type === 'network' && source !== '').map((nic) => [macOf(nic.mac), nic.source]),
  );
  if (networkOf.size === 0) return [];
  const leases = await connection.domains.interfaceAddresses(uuid, 'lease');
  const subnets = new Map<string, BlockList>();
  const own = addressesOfMachine();
  const found: string[] = [];
  for (const { mac = '', address } of leases) {
    const network = networkOf.get(macOf(mac));
    if (network === undefined || isForbidden(address) || own.includes(address)) continue;
    const subnet = subnets.get(network) ?? leasedSubnets(await connection.networks.xml(network));
    subnets.set(network, subnet);
    if (contains(subnet, address)) found.push(address);
  }
  return found.sort((a, b) => Number(isIPv6(a)) - Number(isIPv6(b)));
}

/** The subnets that the DHCP server of a network gives addresses from, without the addresses of the machine in them. */
export function leasedSubnets(xml: string): BlockList {
  const list = new BlockList();
  const network = element(parseXml(xml), 'network');
  if (!OWN_MODES.includes(attribute(element(network, 'forward'), 'mode') ?? defaultMode(network))) return list;
  for (const ip of elements(network, 'ip')) {
    const address = attribute(ip, 'address') ?? '';
    const prefix = prefixOf(attribute(ip, 'prefix'), attribute(ip, 'netmask'));
    if (!element(ip, 'dhcp') || prefix === undefined) continue;
    if (isIPv4(address) && prefix <= 32) list.addSubnet(address, prefix, 'ipv4');
    if (isIPv6(address) && prefix <= 128) list.addSubnet(address, prefix, 'ipv6');
  }
  return list;
}

/** `<forward/>` alone is a NAT. */
const defaultMode = (network: ReturnType<typeof element>): string | undefined =>
  element(network, 'forward') ? 'nat' : undefined;

function prefixOf(prefix: string | undefined, netmask: string | undefined): number | undefined {
  if (prefix !== undefined) return /^\d{1,3}$/.test(prefix) ? Number(prefix) : undefined;
  if (netmask === undefined || !isIPv4(netmask)) return undefined;
  const bits = netmask
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('');
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : undefined;
}

/** Apart, because a list that has IPv4 in the form of IPv6 contains every IPv4 address. */
const forbidden = { ipv4: rangesOf('ipv4'), ipv6: rangesOf('ipv6') };

function rangesOf(family: keyof typeof NEVER): BlockList {
  const list = new BlockList();
  for (const range of NEVER[family]) {
    const [address = '', prefix] = range.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

function isForbidden(address: string): boolean {
  if (isIPv4(address)) return contains(forbidden.ipv4, address);
  return !isIPv6(address) || address.includes('%') || contains(forbidden.ipv6, address);
}

const contains = (list: BlockList, address: string): boolean => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');

const addressesOfMachine = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));

const macOf = (text: string): string => text.toLowerCase();
