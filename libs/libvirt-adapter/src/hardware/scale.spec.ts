import { FixedClock } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { Host } from '../host/host.js';
import { FEATURES } from '../testing/domain-xml.js';
import type { DomainHardware } from './domain-hardware.js';
import { StopRequests } from '../domains/stop-requests.js';
import { Restarts, type RestartsDeps } from './restarts.js';
import { planScale } from './scale.js';

const GIB = 1024 ** 3;
const CELLS = `    <numa>
      <cell id='0' cpus='0-1' memory='524288' unit='KiB'/>
      <cell id='1' cpus='2-3' memory='524288' unit='KiB'/>
    </numa>
`;
const PAGES =
  "  <memoryBacking>\n    <hugepages>\n      <page size='1048576' unit='KiB'/>\n    </hugepages>\n  </memoryBacking>\n";
const domainXml = (pages: string, cells: string): string => `<domain type='qemu'>
  <name>web</name>
  <uuid>2c749204-8322-4dfd-b324-cb2e556e0e9a</uuid>
  <memory unit='KiB'>1048576</memory>
  <currentMemory unit='KiB'>1048576</currentMemory>
${pages}  <vcpu placement='static' current='2'>4</vcpu>
  <cputune>
    <vcpupin vcpu='0' cpuset='1'/>
  </cputune>
  <os>
    <type arch='x86_64' machine='pc-q35-7.2'>hvm</type>
  </os>
  <cpu mode='maximum'>
${cells}  </cpu>
  <devices>
  </devices>
</domain>
`;
/** A host with 2 pages of 1 GiB. */
const CAPABILITIES =
  "<capabilities><host><topology><cells><cell id='0'><memory unit='KiB'>16777216</memory><pages unit='KiB' size='4'>1</pages><pages unit='KiB' size='1048576'>2</pages><cpus><cpu id='0'/></cpus></cell></cells></topology></host></capabilities>";

const UUID = '2c749204-8322-4dfd-b324-cb2e556e0e9a';

describe('the size of a VM that is placed on its host', () => {
  const clock = new FixedClock(0);
  const stops = new StopRequests(clock);
  afterEach(() => stops.end(UUID));

  const plan = async (change: { cpu?: number; memoryBytes?: number }, { pages = '', cells = '', isActive = false }) => {
    const xml = domainXml(pages, cells);
    const defined: string[] = [];
    const connection = {
      host: {
        hostname: async () => 'host-1',
        capabilities: async () => CAPABILITIES,
        cpus: async () => ({ online: [0, 1], offline: [] }),
        freePages: async () => [2],
      },
      domains: { persistentXml: async () => xml, define: async (text: string) => void defined.push(text) },
    } as unknown as LibvirtConnection;
    const description = describeDomain(xml);
    const devices = { description, maxCpu: 4, maxMemoryBytes: null, disks: [], nics: [] };
    const domain = {
      id: { name: 'web', uuid: description.uuid },
      state: { isActive },
      live: devices,
      config: devices,
    } as unknown as DomainHardware;
    const host = { cpus: 8, memoryBytes: 16 * GIB, features: FEATURES } as Host;
    const restarts = new Restarts({ stops } as unknown as RestartsDeps);
    const deps = { connection, describeHost: async () => host, restarts, clock: new FixedClock(0) };
    const planned = await planScale(domain, { kind: 'scale', restart: isActive, ...change }, deps);
    if (planned.plan.effect !== 'restart') await planned.run();
    return { effect: planned.plan.effect, reasons: planned.plan.refusals.map(({ reason }) => reason), defined };
  };

  test('is a whole number of the pages that back its memory, which the host has', async () => {
    expect((await plan({ memoryBytes: 2 * GIB }, { pages: PAGES })).reasons).toEqual([]);
    const uneven = await plan({ memoryBytes: 1.5 * GIB }, { pages: PAGES });
    expect(uneven.reasons).toEqual([expect.stringMatching(/not a multiple of the page size 1Gi/)]);
    const large = await plan({ memoryBytes: 3 * GIB }, { pages: PAGES });
    expect(large.reasons).toEqual([expect.stringMatching(/needs 3 pages of 1Gi, and host-1 has 2 reserved/)]);
    expect([uneven.defined, large.defined]).toEqual([[], []]);
    expect((await plan({ memoryBytes: 3 * GIB }, {})).reasons).toEqual([]);
  });

  test('keeps its NUMA nodes and pins, and does not outgrow them', async () => {
    const { reasons, defined } = await plan({ cpu: 3 }, { cells: CELLS });
    expect(reasons).toEqual([]);
    expect(defined[0]).toContain(CELLS);
    expect(defined[0]).toContain("<vcpupin vcpu='0' cpuset='1'/>");
    const large = await plan({ cpu: 5 }, { cells: CELLS });
    expect(large.reasons).toEqual([expect.stringMatching(/divides its 4 CPUs among NUMA nodes/)]);
    expect(large.defined).toEqual([]);
  });

  test('is changed without a restart while the VM is being stopped, unless its guest ignores that', async () => {
    const change = { memoryBytes: 2 * GIB };
    expect((await plan(change, { isActive: true })).effect).toBe('restart');
    stops.begin(UUID, () => undefined);
    const { effect, defined } = await plan(change, { isActive: true });
    expect([effect, defined.length]).toEqual(['next-start', 1]);
    clock.advance(60_000);
    expect((await plan(change, { isActive: true })).effect).toBe('restart');
  });
});
