import { defaultInterfaces } from './default-interfaces.js';

const IPV4 = `Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth1\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
tun0\t00000000\t010200C0\t0003\t0\t0\t0\t00000080\t0\t0\t0
`;
const ZERO = '0'.repeat(32);
const IPV6 = `${ZERO} 00 ${ZERO} 00 fe80000000000000000000000000001 00000400 00000001 00000000 00000003     wlan0
${ZERO} 00 ${ZERO} 00 ${ZERO} ffffffff 00000001 00000000 00200200       lo
fe800000000000000000000000000000 40 ${ZERO} 00 ${ZERO} 00000100 00000001 00000000 00000001     eth1
`;

test('the interfaces with a default route are those of the routing tables', async () => {
  const files: Record<string, string> = { '/proc/net/route': IPV4, '/proc/net/ipv6_route': IPV6 };
  expect(await defaultInterfaces(async (path) => files[path] ?? '')).toEqual(['eth0', 'wlan0']);
  expect(await defaultInterfaces(async () => '')).toEqual([]);
});
