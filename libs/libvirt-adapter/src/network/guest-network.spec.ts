import { describeDomain } from '../domain-xml/domain-description.js';
import { foreignDomainXml, ownDomainXml } from '../testing/domain-xml.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { VirshConnection } from '../virsh/virsh-connection.js';
import { GuestNetwork, hasUserNetworking } from './guest-network.js';

const CONFLICT = 'internal error: Network is already in use by interface eth0';

describe('GuestNetwork', () => {
  let libvirt: FakeLibvirt;
  let network: GuestNetwork;
  beforeEach(() => {
    libvirt = new FakeLibvirt();
    network = new GuestNetwork(libvirt.connection());
  });

  test.each(['default', 'headgate'])('uses the network %s if it is active, and changes nothing', async (name) => {
    libvirt.networks.set(name, true);
    expect(await network.ensure()).toBe(name);
    expect(libvirt.changes).toEqual([]);
  });

  test('creates its own network and leaves an inactive default network alone', async () => {
    libvirt.networks.set('default', false);
    expect(await network.active()).toBeUndefined();
    expect(await network.ensure()).toBe('headgate');
    expect(libvirt.networks.get('default')).toBe(false);
    expect(libvirt.changes).toEqual([
      'net-define headgate 192.168.123.1',
      'net-start headgate',
      'net-autostart headgate',
    ]);
  });

  test('creates the network once for several VMs', async () => {
    expect(await Promise.all([network.ensure(), network.ensure()])).toEqual(['headgate', 'headgate']);
    expect(libvirt.changes.filter((change) => change.startsWith('net-define'))).toHaveLength(1);
  });

  test('uses the network that another program started meanwhile', async () => {
    libvirt.scripted.set('net-define', { code: 1, stderr: "error: network 'headgate' already exists\n" });
    const connection = new VirshConnection({
      uri: 'qemu:///system',
      run: (program, args, options) => {
        if (args.includes('net-define')) libvirt.networks.set('headgate', true);
        return libvirt.run(program, args, options);
      },
    });
    expect(await new GuestNetwork(connection).ensure()).toBe('headgate');
  });

  test('starts its own network if it is defined already', async () => {
    libvirt.networks.set('headgate', false);
    expect(await network.ensure()).toBe('headgate');
    expect(libvirt.changes).toEqual(['net-start headgate', 'net-autostart headgate']);
  });

  test('tries other subnets if the machine uses one already', async () => {
    libvirt.networkFailures.push(CONFLICT, CONFLICT);
    expect(await network.ensure()).toBe('headgate');
    expect(libvirt.changes.filter((change) => change.startsWith('net-define'))).toEqual([
      'net-define headgate 192.168.123.1',
      'net-define headgate 192.168.213.1',
      'net-define headgate 10.123.213.1',
    ]);
  });

  test('fails with the reason if the machine is unable to run a network', async () => {
    libvirt.networkFailures.push("Cannot check dnsmasq binary 'dnsmasq': No such file or directory");
    await expect(network.ensure()).rejects.toThrow('dnsmasq');
    expect(await network.active()).toBeUndefined();
  });
});

describe('a domain without a libvirt network', () => {
  test('has no network card', () => {
    expect(describeDomain(ownDomainXml()).nics).toEqual([]);
    expect(describeDomain(ownDomainXml({ network: 'headgate' })).nics).toMatchObject([
      { type: 'network', source: 'headgate' },
    ]);
  });
});

describe('hasUserNetworking', () => {
  const withArgument = (value: string): string =>
    ownDomainXml().replace(
      '</domain>',
      `<qemu:commandline><qemu:arg value='-netdev'/><qemu:arg value='${value}'/></qemu:commandline></domain>`,
    );

  test.each([
    ['a user-mode network card', foreignDomainXml({ name: 'a', uuid: 'b' }), true],
    ['user-mode networking in QEMU arguments', withArgument('user,id=n0,hostfwd=tcp::2222-:22'), true],
    ['restricted user-mode networking', withArgument('user,id=n0,restrict=on'), false],
    ['another network backend', withArgument('tap,id=n0'), false],
    ['a libvirt network', ownDomainXml({ network: 'default' }), false],
  ])('for %s', (_title, xml, expected) => expect(hasUserNetworking(describeDomain(xml))).toBe(expected));
});
