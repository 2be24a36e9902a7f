import { DomainError } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import type { StatisticFields } from '../connection/domain-operations.js';
import { DomainFinder } from '../domains/domain-finder.js';
import { ownDomainXml } from '../testing/domain-xml.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { parseStatistics } from '../virsh/virsh-domains.js';
import { LibvirtMetrics, memoryOf } from './libvirt-metrics.js';

const KIB = 1024;

describe('LibvirtMetrics', () => {
  let libvirt: FakeLibvirt;
  let clock: FixedClock;

  beforeEach(() => {
    libvirt = new FakeLibvirt();
    clock = new FixedClock();
    libvirt.scripted.set('nodecpustats', {
      stdout: 'user:      3000000\nsystem:    2000000\nidle:  9\niowait:  9\n\n',
    });
    libvirt.scripted.set('nodememstats', {
      stdout: 'total  :   1000 KiB\nfree   :    500 KiB\nbuffers:    100 KiB\ncached :    150 KiB\n\n',
    });
  });

  const read = () => {
    const connection = libvirt.connection();
    return new LibvirtMetrics(connection, new DomainFinder('local', connection), clock).read();
  };

  test('sums the disks and the interfaces of a domain, and leaves out what libvirt does not measure', async () => {
    libvirt.add(ownDomainXml({ name: 'web' }), 'running (booted)');
    libvirt.scripted.set('domstats', {
      stdout: [
        `Domain: 'web'`,
        '  cpu.time=418488000',
        '  balloon.current=65536',
        '  balloon.last-update=0',
        '  balloon.rss=42256',
        '  net.count=2',
        '  net.0.rx.bytes=10',
        '  net.0.tx.bytes=1',
        '  net.1.rx.bytes=5',
        '  block.count=3',
        '  block.0.name=vda',
        '  block.0.path=/pool/web.qcow2',
        '  block.0.rd.bytes=100',
        '  block.0.wr.bytes=7',
        '  block.1.name=sda',
        '  block.2.rd.bytes=11',
        '  block.2.wr.bytes=0',
        '',
      ].join('\n'),
    });
    expect(await read()).toEqual({
      instances: [
        {
          ref: { kind: 'vm', context: 'local', namespace: 'local', name: 'web' },
          cpuTimeMs: 418.488,
          cpuMillicores: null,
          memoryUsedBytes: 42_256 * KIB,
          memoryTotalBytes: 65_536 * KIB,
          diskReadBytes: 111,
          diskWrittenBytes: 7,
          networkReceivedBytes: 15,
          networkTransmittedBytes: 1,
        },
      ],
      nodes: [{ name: 'host-1', cpuTimeMs: 5, cpuMillicores: null, memoryUsedBytes: 250 * KIB }],
    });
  });

  test('has nulls for a domain without statistics, and nothing for one that vanished', async () => {
    libvirt.add(ownDomainXml({ name: 'web' }), 'running (booted)');
    libvirt.scripted.set('domstats', { stdout: `Domain: 'gone'\n  cpu.time=1\n\nDomain: 'web'\n\n` });
    const { instances } = await read();
    expect(instances).toEqual([
      expect.objectContaining({
        cpuTimeMs: null,
        memoryUsedBytes: null,
        diskReadBytes: null,
        networkReceivedBytes: null,
      }),
    ]);
  });

  test('reports the failure of libvirt', async () => {
    libvirt.scripted.set('domstats', { code: 1, stderr: 'error: failed to connect to the hypervisor\n' });
    await expect(read()).rejects.toBeInstanceOf(DomainError);
  });
});

describe('memoryOf', () => {
  const NOW_S = 1_800_000_000;
  const fields = (values: Record<string, number>): StatisticFields =>
    new Map(Object.entries(values).map(([name, value]) => [`balloon.${name}`, value]));
  const honest = { current: 1000, available: 980, usable: 600, unused: 100, 'last-update': NOW_S - 9, rss: 777 };

  test('is what the guest uses without its caches', () => {
    expect(memoryOf(fields(honest), NOW_S)).toEqual({ memoryUsedBytes: 380 * KIB, memoryTotalBytes: 1000 * KIB });
    const { usable: _usable, ...older } = honest;
    expect(memoryOf(fields(older), NOW_S).memoryUsedBytes).toBe(880 * KIB);
  });

  test.each([
    ['has reported nothing yet', { 'last-update': 0 }],
    ['has stopped to report', { 'last-update': NOW_S - 301 }],
    ['reports more free memory than it has', { usable: 2 ** 60 }],
    ['reports more memory than its machine has', { available: 1001 }],
    ['reports no number', { available: Number.NaN }],
  ])('is that of the process when a guest %s', (_what, lie) => {
    expect(memoryOf(fields({ ...honest, ...lie }), NOW_S)).toEqual({
      memoryUsedBytes: 777 * KIB,
      memoryTotalBytes: 1000 * KIB,
    });
  });
});

describe('parseStatistics', () => {
  test('keeps domains apart whose disks have names that look like statistics', () => {
    const output = [
      `Domain: 'it's'`,
      '  cpu.time=5',
      '  block.0.path=/pool/a',
      '  cpu.time=99',
      `Domain: 'victim'`,
      '  cpu.time=7',
      '',
      `Domain: 'it's'`,
      '  cpu.time=1',
    ].join('\n');
    const found = parseStatistics(output);
    expect(found.get(`it's`)?.get('cpu.time')).toBe(5);
    expect(found.get('victim')?.get('cpu.time')).toBe(7);
    expect(parseStatistics('').size).toBe(0);
  });
});
