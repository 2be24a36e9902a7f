import { networkInterfaces } from 'node:os';
import type { InterfaceAddress } from '../connection/domain-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { leasedAddresses } from './leased-addresses.js';

const MAC = '52:54:00:aa:bb:01';
const NAT = `<network><name>default</name><forward mode='nat'/>
  <ip address='192.168.122.1' netmask='255.255.255.0'><dhcp><range start='192.168.122.2' end='192.168.122.254'/></dhcp></ip>
  <ip family='ipv6' address='fd00:122::1' prefix='64'><dhcp><range start='fd00:122::2' end='fd00:122::ff'/></dhcp></ip>
</network>`;
const ownAddress = Object.values(networkInterfaces())
  .flatMap((all = []) => all)
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

const nic = (fields: Partial<{ mac: string; type: string; source: string }> = {}) => ({
  mac: MAC,
  type: 'network',
  source: 'default',
  model: 'virtio',
  ...fields,
});

/** The addresses that are found when libvirt reports these leases, with the sources that it was asked for. */
async function found(
  leases: readonly Partial<InterfaceAddress>[],
  { nics = [nic()], network = NAT }: { nics?: ReturnType<typeof nic>[]; network?: string } = {},
) {
  const asked: string[] = [];
  const connection = {
    domains: {
      interfaceAddresses: (_uuid: string, source: string) => {
        asked.push(source);
        return Promise.resolve(leases.map((lease) => ({ interfaceName: 'vnet0', mac: MAC, ...lease })));
      },
    },
    networks: { xml: () => Promise.resolve(network) },
  } as unknown as LibvirtConnection;
  return { addresses: await leasedAddresses(connection, { uuid: 'u', nics }), asked };
}

describe('the addresses of a guest that the service connects to', () => {
  test('are those that a network of libvirt has leased to its network card, IPv4 first', async () => {
    const leases = [{ address: 'fd00:122::17' }, { address: '192.168.122.7', mac: MAC.toUpperCase() }];
    expect(await found(leases)).toEqual({ addresses: ['192.168.122.7', 'fd00:122::17'], asked: ['lease'] });
  });

  test.each([
    ['127.0.0.1', 'the loopback address of this machine'],
    ['127.9.9.9', 'the loopback network'],
    ['0.0.0.0', 'this machine'],
    ['169.254.169.254', 'the metadata of a cloud'],
    ['192.168.123.7', 'another network'],
    ['8.8.8.8', 'the internet'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['::1', 'the loopback address of this machine'],
    ['::ffff:192.168.122.7', 'IPv4 in the form of IPv6'],
    ['::ffff:127.0.0.1', 'loopback in the form of IPv6'],
    ['64:ff9b::7f00:1', 'a translated address'],
    ['fe80::1', 'a link-local address'],
    ['fe80::1%eth0', 'an address with a zone'],
    ['fd00:123::7', 'another network'],
    ['localhost', 'a name'],
    ['', 'nothing'],
    ['192.168.122.7.evil.example', 'a name that begins with an address'],
  ])('are never %s: %s', async (address) => {
    expect((await found([{ address }])).addresses).toEqual([]);
  });

  test('are never those of another network card', async () => {
    expect((await found([{ address: '192.168.122.7', mac: '52:54:00:aa:bb:02' }])).addresses).toEqual([]);
    expect((await found([{ address: '192.168.122.7', mac: undefined }])).addresses).toEqual([]);
  });

  test.each([
    ['a bridge of the machine', nic({ type: 'bridge', source: 'br0' })],
    ['a card of the machine', nic({ type: 'direct', source: 'eth0' })],
    ["QEMU's user-mode network", nic({ type: 'user', source: '' })],
  ])('are never looked for on %s', async (_name, card) => {
    expect(await found([{ address: '192.168.122.7' }], { nics: [card] })).toEqual({ addresses: [], asked: [] });
  });

  test.each([
    ['a bridge that others manage', "<forward mode='bridge'/><bridge name='br0'/>"],
    ['a card in passthrough', "<forward mode='passthrough'/>"],
    ['no DHCP server of libvirt', "<forward mode='nat'/><ip address='192.168.122.1' prefix='24'/>"],
    ['a subnet without a mask', "<forward mode='nat'/><ip address='192.168.122.1'><dhcp/></ip>"],
    ['a mask with gaps', "<forward mode='nat'/><ip address='192.168.122.1' netmask='255.0.255.0'><dhcp/></ip>"],
  ])('are never in a network with %s', async (_name, content) => {
    const network = `<network><name>default</name>${content}</network>`;
    expect((await found([{ address: '192.168.122.7' }], { network })).addresses).toEqual([]);
  });

  test('are never in a network that leases addresses of loopback', async () => {
    const network = "<network><forward mode='nat'/><ip address='127.0.0.1' prefix='8'><dhcp/></ip></network>";
    expect((await found([{ address: '127.0.0.5' }], { network })).addresses).toEqual([]);
  });

  test('can be in an isolated network, and in one that is routed', async () => {
    for (const mode of ['', "<forward mode='route'/>", '<forward/>']) {
      const network = `<network>${mode}<ip address='10.9.0.1' netmask='255.255.240.0'><dhcp/></ip></network>`;
      expect((await found([{ address: '10.9.15.254' }], { network })).addresses).toEqual(['10.9.15.254']);
      expect((await found([{ address: '10.9.16.1' }], { network })).addresses).toEqual([]);
    }
  });

  (ownAddress === undefined ? test.skip : test)('are never addresses of this machine', async () => {
    const network = `<network><ip address='${ownAddress}' prefix='24'><dhcp/></ip></network>`;
    expect((await found([{ address: ownAddress! }], { network })).addresses).toEqual([]);
  });
});
