import { describeXml } from './describe-networks.js';

test('reads the forwarding, the bridge, the addresses and the ranges of a network', () => {
  expect(
    describeXml(
      `<network><name>lan</name><forward mode='route'/><bridge name='virbr1'/>
         <ip address='192.168.122.1' netmask='255.255.255.0'><dhcp><range start='192.168.122.2' end='192.168.122.99'/>
           <range start='192.168.122.200' end='192.168.122.254'/></dhcp></ip>
         <ip family='ipv6' address='fd00::1' prefix='64'/></network>`,
    ),
  ).toEqual({
    mode: 'route',
    bridge: 'virbr1',
    addresses: ['192.168.122.1/24', 'fd00::1/64'],
    dhcp: [
      { start: '192.168.122.2', end: '192.168.122.99' },
      { start: '192.168.122.200', end: '192.168.122.254' },
    ],
  });
});

test('a network without forwarding is isolated, and forwarding without a mode is NAT', () => {
  expect(describeXml('<network><name>a</name></network>')).toEqual({
    mode: 'isolated',
    bridge: '',
    addresses: [],
    dhcp: [],
  });
  expect(describeXml('<network><name>a</name><forward/></network>').mode).toBe('nat');
});
