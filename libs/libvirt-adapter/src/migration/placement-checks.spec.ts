import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import { foreignDomainXml, UUID } from '../testing/domain-xml.js';
import type { MigrationHost } from './migration-host.js';
import { placementRefusals } from './placement-checks.js';

const CAPABILITIES =
  "<capabilities><host><topology><cells><cell id='0'><memory unit='KiB'>16777216</memory><pages unit='KiB' size='4'>1</pages><pages unit='KiB' size='2048'>100</pages></cell></cells></topology></host></capabilities>";

describe('the placement of a guest that is migrated', () => {
  let calls = 0;
  const connection = {
    host: {
      hostname: async () => 'beta-1',
      capabilities: async () => (calls++, CAPABILITIES),
      cpus: async () => ({ online: [0, 1], offline: [2] }),
      freePages: async () => [10],
    },
  } as unknown as LibvirtConnection;
  const reasonsOf = async (settings: string): Promise<string[]> => {
    const xml = foreignDomainXml({ name: 'web', uuid: UUID }).replace('<vcpu>', `${settings}<vcpu>`);
    const destination = { context: 'beta', connection } as unknown as MigrationHost;
    return (await placementRefusals(describeDomain(xml), destination)).map(({ reason }) => reason);
  };

  test.each([
    ["<cputune><vcpupin vcpu='0' cpuset='0-1'/><emulatorpin cpuset='1'/></cputune>", []],
    ["<cputune><vcpupin vcpu='0' cpuset='1-2'/></cputune>", ['web is pinned to CPU 2, which beta does not have.']],
    ["<cputune><emulatorpin cpuset='7'/></cputune>", ['web is pinned to CPU 7, which beta does not have.']],
    ["<cputune><vcpupin vcpu='0' cpuset='^0,1'/></cputune>", []],
    ["<numatune><memory mode='strict' nodeset='0'/></numatune>", []],
    [
      "<numatune><memory mode='strict' nodeset='1'/></numatune>",
      ['web takes its memory from NUMA node 1, which beta does not have.'],
    ],
    [
      "<memoryBacking><hugepages><page size='2048' unit='KiB'/></hugepages></memoryBacking>",
      ['web needs 64 free pages of 2Mi, which beta does not have.'],
    ],
  ])('fits the destination or is refused: %s', async (settings, reasons) => {
    expect(await reasonsOf(settings)).toEqual(reasons);
  });

  test('costs no question where there is none', async () => {
    calls = 0;
    expect(await reasonsOf('')).toEqual([]);
    expect(calls).toBe(0);
  });
});
