import type { NetworkDetails } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { LOCAL_NAMESPACE } from '../domains/instance-name.js';
import { attribute, element, elements, parseXml, type XmlElement } from '../xml/xml.js';
import type { ReadDomain } from './read-domains.js';

const OF_NETWORK = 'network';

/** All networks, and the domains with a card in them. */
export async function describeNetworks(
  { networks }: LibvirtConnection,
  domains: readonly ReadDomain[],
): Promise<NetworkDetails[]> {
  const [active, inactive] = await Promise.all([networks.list('active'), networks.list('inactive')]);
  const named = [...new Set([...active, ...inactive])].sort();
  return Promise.all(
    named.map(async (name) => ({
      namespace: LOCAL_NAMESPACE,
      name,
      isActive: active.includes(name),
      ...describeXml(await networks.xml(name)),
      users: domains
        .filter(({ description: { nics } }) => nics.some(({ type, source }) => type === OF_NETWORK && source === name))
        .map(({ ref }) => ref),
    })),
  );
}

/** Source: https://libvirt.org/formatnetwork.html */
export function describeXml(xml: string): Pick<NetworkDetails, 'mode' | 'bridge' | 'addresses' | 'dhcp'> {
  const network = element(parseXml(xml), 'network');
  const forward = element(network, 'forward');
  const ips = elements(network, 'ip');
  return {
    // An element without a mode is NAT; a network without the element is isolated.
    mode: forward === undefined ? 'isolated' : (attribute(forward, 'mode') ?? 'nat'),
    bridge: attribute(element(network, 'bridge'), 'name') ?? '',
    addresses: ips.flatMap(addressOf),
    dhcp: ips.flatMap((ip) =>
      elements(element(ip, 'dhcp'), 'range').map((range) => ({
        start: attribute(range, 'start') ?? '',
        end: attribute(range, 'end') ?? '',
      })),
    ),
  };
}

function addressOf(ip: XmlElement): string[] {
  const address = attribute(ip, 'address');
  if (address === undefined) return [];
  const mask = attribute(ip, 'netmask');
  const prefix = attribute(ip, 'prefix') ?? (mask === undefined ? undefined : String(prefixOf(mask)));
  return [prefix === undefined ? address : `${address}/${prefix}`];
}

/** The number of bits that are set in a mask such as `255.255.255.0`. */
const prefixOf = (mask: string): number =>
  mask.split('.').reduce((bits, part) => bits + Number(part).toString(2).replaceAll('0', '').length, 0);
