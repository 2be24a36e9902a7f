import { SILENT_LOG } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { describeDomain, type DomainDescription } from '../domain-xml/domain-description.js';
import { NO_METADATA, type OwnedVolume } from '../domain-xml/instance-metadata.js';
import { ownDomainXml, UUID } from '../testing/domain-xml.js';
import { profileOf } from '../testing/domain-variants.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { StoragePool } from '../storage/storage-pool.js';
import { KeyedLock } from '../locks/concurrency.js';
import { DomainEditor } from '../domains/domain-editor.js';
import { SeedRemoval } from './seed-removal.js';

const SEED = 'web-2c749204-seed.iso';
const VOLUMES: OwnedVolume[] = [
  { pool: 'headgate', name: 'web-2c749204.qcow2', role: 'disk' },
  { pool: 'headgate', name: SEED, role: 'seed' },
];

describe('SeedRemoval', () => {
  let libvirt: FakeLibvirt;
  let clock: FixedClock;
  let seeds: SeedRemoval;

  beforeEach(() => {
    [libvirt, clock] = [new FakeLibvirt(), new FixedClock()];
    libvirt.addPool('headgate', '/images/headgate', 'web-2c749204.qcow2', SEED);
    const connection = libvirt.connection();
    seeds = new SeedRemoval({
      connection,
      pool: new StoragePool(connection, 'headgate', '/images/headgate'),
      editor: new DomainEditor(connection),
      lock: new KeyedLock(),
      clock,
      log: SILENT_LOG,
    });
  });
  afterEach(async () => {
    await seeds.close();
    expect(clock.pending).toBe(0);
  });

  const xmlWith = ({ attached = true, owner = UUID, agent = false, windows = false } = {}): string => {
    const xml = ownDomainXml({
      ...(attached && { seed: `/images/headgate/${SEED}` }),
      ...(windows && { guest: profileOf('win10') }),
      metadata: { ...NO_METADATA, owner, volumes: VOLUMES },
    });
    return agent
      ? xml.replace('name="org.qemu.guest_agent.0"', 'name="org.qemu.guest_agent.0" state="connected"')
      : xml;
  };
  const observe = (xml: string, isActive = true): DomainDescription => {
    libvirt.add(xml, isActive ? 'running (booted)' : 'shut off (shutdown)');
    const domain = describeDomain(xml);
    seeds.observe(domain, isActive);
    return domain;
  };
  /** Lets the clock run in steps of a check each, with the work of every check. */
  const run = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 10) {
      clock.advance(10_000);
      await seeds.whenIdle();
    }
  };
  const commands = (): string[] => libvirt.changes.map((change) => change.split(' ')[0] ?? '');

  test('detaches the disc and removes it once the guest has read it and its agent responds', async () => {
    libvirt.readBytes.set('vdb', 65_536);
    libvirt.detachable.add('vdb');
    observe(xmlWith({ agent: true }));
    await run(20);
    expect(commands()).toEqual([]);
    await run(20);
    expect(commands()).toEqual(['detach-device', 'vol-delete', 'metadata']);
    expect(libvirt.changes[0]).toBe(`detach-device ${UUID} vdb --config --live`);
    expect(libvirt.changes[1]).toBe(`vol-delete headgate/${SEED}`);
    expect(libvirt.changes[2]).not.toContain(SEED);
    expect(libvirt.changes[2]).toContain('web-2c749204.qcow2');
  });

  test('waits much longer without an agent, and as long as the guest reads', async () => {
    libvirt.detachable.add('vdb');
    libvirt.readBytes.set('vdb', 4096);
    observe(xmlWith());
    await run(280);
    libvirt.readBytes.set('vdb', 65_536);
    await run(290);
    expect(commands()).toEqual([]);
    await run(40);
    expect(commands()).toEqual(['detach-device', 'vol-delete', 'metadata']);
  });

  test('keeps a disc that the guest has not read, and stops watching a VM that stops', async () => {
    observe(xmlWith({ agent: true }));
    await run(600);
    expect(commands()).toEqual([]);
    observe(xmlWith(), false);
    expect(clock.pending).toBe(0);
  });

  test('keeps the volume while the guest holds the disc', async () => {
    libvirt.readBytes.set('vdb', 65_536);
    observe(xmlWith({ agent: true }));
    await run(40);
    expect(new Set(commands())).toEqual(new Set(['detach-device']));
    libvirt.detachable.add('vdb');
    await run(10);
    expect(commands().slice(-3)).toEqual(['detach-device', 'vol-delete', 'metadata']);
  });

  test('takes the medium out of a CD-ROM drive, which stays', async () => {
    libvirt.readBytes.set('sdb', 65_536);
    libvirt.detachable.add('sdb');
    observe(xmlWith({ agent: true, windows: true }));
    await run(40);
    expect(commands()).toEqual(['update-device', 'vol-delete', 'metadata']);
  });

  test('finishes a removal that was interrupted after the disc was detached', async () => {
    observe(xmlWith({ attached: false }), false);
    await seeds.whenIdle();
    expect(commands()).toEqual(['vol-delete', 'metadata']);
  });

  test('never touches the disc of a copied or foreign domain', async () => {
    libvirt.readBytes.set('vdb', 65_536);
    libvirt.detachable.add('vdb');
    observe(xmlWith({ agent: true, owner: '00000000-0000-0000-0000-000000000000' }));
    expect(clock.pending).toBe(0);
    await run(600);
    expect(commands()).toEqual([]);
  });
});
