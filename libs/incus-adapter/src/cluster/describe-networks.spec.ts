import { describeNetwork, type NetworkObject } from './describe-networks.js';

const network = (values: Partial<NetworkObject>): NetworkObject => ({
  name: 'lan',
  type: 'bridge',
  managed: true,
  status: 'Created',
  config: {},
  used_by: [],
  ...values,
});

test('reads the addresses and the ranges of a managed bridge', () => {
  const config = {
    'ipv4.address': '10.1.0.1/24',
    'ipv4.nat': 'true',
    'ipv4.dhcp.ranges': '10.1.0.2-10.1.0.9, 10.1.0.20-10.1.0.29',
    'ipv6.address': 'none',
  };
  expect(describeNetwork(network({ config }))).toEqual({
    mode: 'nat',
    bridge: 'lan',
    isActive: true,
    addresses: ['10.1.0.1/24'],
    dhcp: [
      { start: '10.1.0.2', end: '10.1.0.9' },
      { start: '10.1.0.20', end: '10.1.0.29' },
    ],
  });
});

test('reads a bridge of the host, and a network on an interface', () => {
  expect(describeNetwork(network({ managed: false, status: '' }))).toEqual({
    mode: 'bridge',
    bridge: 'lan',
    isActive: true,
    addresses: [],
    dhcp: [],
  });
  const macvlan = network({ type: 'macvlan', status: 'Errored', config: { parent: 'eth0' } });
  expect(describeNetwork(macvlan)).toMatchObject({ mode: 'macvlan', bridge: 'eth0', isActive: false });
});
