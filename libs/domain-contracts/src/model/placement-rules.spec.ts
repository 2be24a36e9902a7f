import type { HostTopology } from './host-resources.js';
import { changedPlacement, hugepageRefusals, hugepageWarnings, pinningRefusals } from './placement-rules.js';
import { describePlacementChange, type CpuPinning, type Placement } from './placement.js';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const pool = (pageBytes: number, total: number, free = total) => ({ pageBytes, total, free });
const host: HostTopology = {
  node: 'host-1',
  cpus: '0-5,7',
  offlineCpus: '6',
  numaNodes: [
    { id: 0, cpus: '0-3', memoryBytes: 8 * GIB, hugepages: [pool(2 * MIB, 1024), pool(GIB, 0)] },
    { id: 1, cpus: '4-5,7', memoryBytes: 4 * GIB, hugepages: [pool(2 * MIB, 512, 0), pool(GIB, 0)] },
  ],
  hugepages: [pool(2 * MIB, 1536, 1024), pool(GIB, 0)],
  reservesCpus: false,
};
const limits = { name: 'web', maxCpu: 4, memoryBytes: 2 * GIB, host };
const NONE: CpuPinning = { vcpus: [], emulatorCpus: '', memory: null, cells: [] };
const placement = (hugepageBytes: number | null, pinning: Partial<CpuPinning> = {}): Placement => ({
  dedicated: null,
  pinning: { ...NONE, ...pinning },
  hugepageBytes,
});

describe('the placement of a VM', () => {
  test.each<[title: string, pinning: Partial<CpuPinning>]>([
    [
      'pinned CPUs',
      {
        vcpus: [
          { vcpu: 0, cpus: '0-1' },
          { vcpu: 3, cpus: '7' },
        ],
        emulatorCpus: '4',
      },
    ],
    ['no pins', { vcpus: [], emulatorCpus: '' }],
    ['memory of a node', { memory: { mode: 'strict', nodes: '1' } }],
    ['memory of several nodes', { memory: { mode: 'interleave', nodes: '0-1' } }],
    [
      'NUMA nodes',
      {
        cells: [
          { cpus: '0-1', memoryBytes: GIB },
          { cpus: '2,3', memoryBytes: GIB },
        ],
      },
    ],
    ['no NUMA nodes', { cells: [] }],
  ])('can have %s', (_title, pinning) => {
    expect(pinningRefusals(pinning, limits)).toEqual([]);
  });

  test.each<[title: string, pinning: Partial<CpuPinning>, reason: RegExp]>([
    ['a CPU that the host does not have', { vcpus: [{ vcpu: 0, cpus: '7-9' }] }, /host-1 has no CPU 8-9/],
    ['a CPU that is offline', { vcpus: [{ vcpu: 0, cpus: '6' }] }, /CPU 6 of host-1 is offline/],
    ['an emulator on such a CPU', { emulatorCpus: '6' }, /emulatorCpus: CPU 6 of host-1 is offline/],
    ['a CPU that the VM does not have', { vcpus: [{ vcpu: 4, cpus: '0' }] }, /web has the CPUs 0-3, but no CPU 4/],
    ['half a CPU', { vcpus: [{ vcpu: 0.5, cpus: '0' }] }, /no CPU 0.5/],
    [
      'a CPU twice',
      {
        vcpus: [
          { vcpu: 0, cpus: '0' },
          { vcpu: 0, cpus: '1' },
        ],
      },
      /CPU 0 is named twice/,
    ],
    ['a huge range', { vcpus: [{ vcpu: 0, cpus: '0-99999999999' }] }, /is not a list of numbers/],
    ['an excluded CPU', { vcpus: [{ vcpu: 0, cpus: '^0' }] }, /is not a list of numbers/],
    ['a node that the host does not have', { memory: { mode: 'strict', nodes: '2' } }, /no NUMA node 2/],
    ['two preferred nodes', { memory: { mode: 'preferred', nodes: '0-1' } }, /only one node can be preferred/],
    ['an unknown mode', { memory: { mode: 'best', nodes: '0' } }, /must be one of strict/],
    ['overlapping cells', { cells: [{ cpus: '0-2', memoryBytes: GIB }, { cpus: '2-3', memoryBytes: GIB }] }, /CPU 2 is in NUMA node 0 already/], // prettier-ignore
    ['cells without a CPU', { cells: [{ cpus: '0-2', memoryBytes: 2 * GIB }] }, /CPU 3 of web is in no NUMA node/],
    ['cells with a CPU too many', { cells: [{ cpus: '0-4', memoryBytes: 2 * GIB }] }, /web has no CPU 4/],
    ['cells with less memory', { cells: [{ cpus: '0-3', memoryBytes: GIB }] }, /have 1Gi of memory together/],
  ])('can not have %s', (_title, pinning, reason) => {
    const refusals = pinningRefusals(pinning, limits);
    expect(refusals.map((one) => one.reason)).toEqual([expect.stringMatching(reason)]);
    expect(refusals[0]?.remedy).not.toBe('');
  });

  test('can not take more memory from strict nodes than they have', () => {
    const memory = { mode: 'strict', nodes: '1' };
    expect(pinningRefusals({ memory }, { ...limits, memoryBytes: 6 * GIB })).toMatchObject([
      { code: 'INVALID_QUANTITY' },
    ]);
  });

  test.each<[title: string, placement: Placement, isStarting: boolean, reason: RegExp | undefined]>([
    ['ordinary pages', placement(null), true, undefined],
    ['reserved pages', placement(2 * MIB), true, undefined],
    ['pages of a size that does not exist', placement(4 * MIB), false, /no pages of 4Mi: it has 2Mi and 1Gi/],
    ['pages that are not reserved', placement(GIB), false, /needs 2 pages of 1Gi, and host-1 has 0 reserved/],
    ['pages of a node that others occupy', placement(2 * MIB, { memory: { mode: 'strict', nodes: '1' } }), false, /has 512 reserved/], // prettier-ignore
    ['an uneven cell', placement(GIB, { cells: [{ cpus: '0', memoryBytes: 1.5 * GIB }, { cpus: '1', memoryBytes: GIB / 2 }] }), false, /1536Mi of memory of web is not a multiple/], // prettier-ignore
  ])('with %s is refused only for a reason', (_title, wanted, isStarting, reason) => {
    const reasons = hugepageRefusals(wanted, limits, isStarting).map((one) => one.reason);
    expect(reasons).toEqual(reason ? [expect.stringMatching(reason)] : []);
  });

  test('waits for pages that are reserved and in use, with a warning', () => {
    const large = { ...limits, memoryBytes: 3 * GIB };
    expect(hugepageRefusals(placement(2 * MIB), large, false)).toEqual([]);
    expect(hugepageRefusals(placement(2 * MIB), large, true)[0]?.reason).toMatch(/has 1024 free/);
    expect(hugepageWarnings(placement(2 * MIB), large)).toEqual([
      expect.stringContaining('1024 free pages of 2Mi now'),
    ]);
    expect(hugepageWarnings(placement(2 * MIB), limits)).toEqual([]);
    expect(hugepageWarnings(placement(null), large)).toEqual([]);
  });

  test('keeps what a change does not name', () => {
    const before = placement(2 * MIB, { emulatorCpus: '0' });
    const change = { kind: 'set-placement', pinning: { vcpus: [{ vcpu: 0, cpus: '1' }] }, restart: false } as const;
    expect(changedPlacement(before, change)).toEqual(
      placement(2 * MIB, { emulatorCpus: '0', vcpus: [{ vcpu: 0, cpus: '1' }] }),
    );
    expect(
      changedPlacement(before, { kind: 'set-placement', hugepageBytes: null, restart: false }).hugepageBytes,
    ).toBeNull();
    const dedicated = { isOn: true };
    expect(changedPlacement(before, { kind: 'set-placement', dedicated, restart: false }).dedicated).toBeNull();
  });

  test('is named in the audit log', () => {
    const pinning = { vcpus: [{ vcpu: 0, cpus: '2-3' }], emulatorCpus: '', memory: null, cells: [] };
    expect(describePlacementChange({ kind: 'set-placement', pinning, hugepageBytes: 2 * MIB, restart: false })).toBe(
      'pin CPU 0 to 2-3, unpin the emulator, take memory of any node, remove the NUMA nodes, use pages of 2Mi',
    );
    const dedicated = { isOn: true, isolatesEmulator: true, passesNuma: false };
    expect(describePlacementChange({ kind: 'set-placement', dedicated, hugepageBytes: null, restart: false })).toBe(
      'reserve CPUs, isolate the emulator, hide NUMA nodes, use ordinary pages',
    );
  });
});
