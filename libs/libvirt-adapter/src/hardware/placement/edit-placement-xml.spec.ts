import { describeDomain } from '../../domain-xml/domain-description.js';
import { withSize } from '../edit-domain-xml.js';
import { withPlacement } from './edit-placement-xml.js';
import { effectivePins, foreignNumaSettings, readPlacement } from '../read-placement.js';

const MIB = 1024 ** 2;
const whole = { maxCpu: 4, memoryBytes: 1024 * MIB };
/**
 * What libvirt 9.0 prints for a domain that another tool has tuned, shortened. Its metadata look like settings of
 * libvirt.
 */
const XML = `<domain type='kvm'>
  <name>web</name>
  <uuid>2c749204-8322-4dfd-b324-cb2e556e0e9a</uuid>
  <metadata>
    <tool:tool xmlns:tool='http://example.org/tool'>
  <cputune>
    <vcpupin vcpu='0' cpuset='63'/>
  </cputune>
    </tool:tool>
  </metadata>
  <memory unit='KiB'>1048576</memory>
  <currentMemory unit='KiB'>1048576</currentMemory>
  <memoryBacking>
    <hugepages>
      <page size='1048576' unit='KiB' nodeset='0'/>
    </hugepages>
    <nosharepages/>
    <source type='memfd'/>
  </memoryBacking>
  <vcpu placement='static'>4</vcpu>
  <iothreads>1</iothreads>
  <cputune>
    <shares>2048</shares>
    <vcpupin vcpu='0' cpuset='2-3'/>
    <vcpupin vcpu='1' cpuset='^2,3'/>
    <emulatorpin cpuset='1'/>
    <iothreadpin iothread='1' cpuset='1'/>
    <vcpusched vcpus='0' scheduler='fifo' priority='1'/>
  </cputune>
  <numatune>
    <memory mode='restrictive' nodeset='0'/>
  </numatune>
  <os>
    <type arch='x86_64' machine='pc-q35-7.2'>hvm</type>
  </os>
  <cpu mode='host-passthrough' check='none' migratable='on'>
    <topology sockets='1' dies='1' cores='4' threads='1'/>
    <numa>
      <cell id='0' cpus='0-1' memory='524288' unit='KiB' memAccess='shared'/>
      <cell id='1' cpus='2-3' memory='524288' unit='KiB'/>
    </numa>
  </cpu>
  <devices>
  </devices>
</domain>
`;
/** A domain of this service, which has one NUMA node so that it can get more memory. */
const OWN = `<domain type='qemu'>
  <name>own</name>
  <uuid>2c749204-8322-4dfd-b324-cb2e556e0e9a</uuid>
  <maxMemory slots='16' unit='KiB'>4194304</maxMemory>
  <memory unit='KiB'>1048576</memory>
  <vcpu placement='static' current='2'>4</vcpu>
  <os>
    <type arch='x86_64' machine='pc-q35-7.2'>hvm</type>
  </os>
  <cpu mode='maximum' check='none'>
    <numa>
      <cell id='0' cpus='0-3' memory='1048576' unit='KiB'/>
    </numa>
  </cpu>
  <devices>
  </devices>
</domain>
`;
const placementOf = (xml: string) => readPlacement(describeDomain(xml).document);

describe('the placement in domain XML', () => {
  test('of another tool is read', () => {
    expect(placementOf(XML)).toEqual({
      dedicated: null,
      pinning: {
        vcpus: [
          { vcpu: 0, cpus: '2-3' },
          { vcpu: 1, cpus: '^2,3' },
        ],
        emulatorCpus: '1',
        memory: { mode: 'restrictive', nodes: '0' },
        cells: [
          { cpus: '0-1', memoryBytes: 512 * MIB },
          { cpus: '2-3', memoryBytes: 512 * MIB },
        ],
      },
      hugepageBytes: 1024 * MIB,
    });
    expect(foreignNumaSettings(describeDomain(XML).document)).toEqual(['distances or other settings of NUMA nodes']);
  });

  test('stays as it is without a change, and when the size changes', () => {
    expect(withPlacement(XML, { whole })).toBe(XML);
    const grown = withSize(XML, { cpu: 2, maxCpu: 4, memoryBytes: 1024 * MIB });
    expect(placementOf(grown)).toEqual(placementOf(XML));
    for (const kept of ["<iothreadpin iothread='1'", "memAccess='shared'", '<vcpusched', "<source type='memfd'/>"])
      expect(grown).toContain(kept);
  });

  test('has new pins next to settings of other tools, and outside of the metadata', () => {
    const changed = withPlacement(XML, { pinning: { vcpus: [{ vcpu: 1, cpus: '1,0' }], emulatorCpus: '' }, whole });
    expect(placementOf(changed).pinning).toMatchObject({ vcpus: [{ vcpu: 1, cpus: '0-1' }], emulatorCpus: '' });
    const tune = /\n {2}<cputune>\n {4}<vcpupin vcpu='1' cpuset='0-1'\/>\n {4}<shares>[\s\S]*<\/cputune>/.exec(
      changed,
    )?.[0];
    for (const kept of ['<shares>2048', '<iothreadpin', '<vcpusched']) expect(tune).toContain(kept);
    expect(changed).toContain("<vcpupin vcpu='0' cpuset='63'/>");
    expect(changed.replace(/ {2}<cputune>[\s\S]*?<\/cputune>\n/g, '')).toBe(
      XML.replace(/ {2}<cputune>[\s\S]*?<\/cputune>\n/g, ''),
    );
  });

  test('is created and removed without a trace', () => {
    const cells = [
      { cpus: '0-1', memoryBytes: 512 * MIB },
      { cpus: '2-3', memoryBytes: 512 * MIB },
    ];
    const memory = { mode: 'strict', nodes: '0' };
    const pinning = { vcpus: [{ vcpu: 0, cpus: '0' }], emulatorCpus: '0', memory, cells };
    const placed = withPlacement(OWN, { pinning, hugepageBytes: 2 * MIB, whole });
    expect(placementOf(placed)).toEqual({ dedicated: null, pinning, hugepageBytes: 2 * MIB });
    const none = { vcpus: [], emulatorCpus: '', memory: null, cells: [] };
    expect(withPlacement(placed, { pinning: none, hugepageBytes: null, whole })).toBe(OWN);
  });

  test.each([
    ['without a NUMA node', OWN.replace(/ {4}<numa>[\s\S]*<\/numa>\n/, '    <topology sockets="1"/>\n')],
    ['without content', OWN.replace(/ {2}<cpu [\s\S]*<\/cpu>/, "  <cpu mode='maximum' check='none'/>")],
    ['that is absent', OWN.replace(/ {2}<cpu [\s\S]*<\/cpu>\n/, '')],
  ])('gets NUMA nodes in a CPU %s', (_title, xml) => {
    const cells = [
      { cpus: '0', memoryBytes: 512 * MIB },
      { cpus: '1-3', memoryBytes: 512 * MIB },
    ];
    expect(placementOf(withPlacement(xml, { pinning: { cells }, whole })).pinning?.cells).toEqual(cells);
  });

  test('replaces hugepages only, and keeps how the memory is shared', () => {
    const ordinary = withPlacement(XML, { hugepageBytes: null, whole });
    expect(placementOf(ordinary).hugepageBytes).toBeNull();
    expect(ordinary).toContain(
      "  <memoryBacking>\n    <nosharepages/>\n    <source type='memfd'/>\n  </memoryBacking>\n",
    );
    const short = OWN.replace('  <vcpu', '  <memoryBacking>\n    <hugepages/>\n  </memoryBacking>\n  <vcpu');
    expect(placementOf(short).hugepageBytes).toBe(2 * MIB);
    expect(withPlacement(short, { hugepageBytes: null, whole })).toBe(OWN);
  });

  test('to all CPUs of the host is no pin', () => {
    const pinning = { vcpus: [{ vcpu: 0, cpus: '0-3' }, { vcpu: 1, cpus: '1' }], emulatorCpus: '0,1,2,3', memory: null, cells: [] }; // prettier-ignore
    expect(effectivePins(pinning, '0-3')).toEqual({ vcpus: [{ vcpu: 1, cpus: '1' }], emulatorCpus: '' });
  });
});
