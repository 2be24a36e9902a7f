import { randomUUID } from 'node:crypto';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '@headgate/domain-contracts';
import type { DomainEvent } from '../connection/domain-events.js';
import type { DomainId } from '../connection/domain-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { fileDisk, foreignDomainXml } from './domain-xml.js';
import { LibvirtUnderTest } from './libvirt-under-test.js';

const MIB = 1024 ** 2;

/**
 * Everything that the adapter relies on, whichever way libvirt is reached. virsh, run by the test, is the counterpart.
 */
export function connectionContract(title: string, connect: () => LibvirtConnection): void {
  describe(title, () => {
    let libvirt: LibvirtUnderTest;
    let connection: LibvirtConnection;
    let name: string;

    beforeEach(async () => {
      libvirt = await LibvirtUnderTest.open();
      connection = connect();
      name = libvirt.freshName();
    });
    afterEach(async () => {
      await libvirt.virsh.run(['pool-destroy', name]).catch(() => undefined);
      await libvirt.virsh.run(['pool-undefine', name]).catch(() => undefined);
      await libvirt.virsh.run(['net-undefine', name]).catch(() => undefined);
      await connection.close();
      await libvirt.close();
    });

    const virsh = async (...args: string[]): Promise<string> => (await libvirt.virsh.run(args)).trim();
    const code = (promise: Promise<unknown>): Promise<string> =>
      promise.then(
        () => 'none',
        (error: unknown) => (error instanceof DomainError ? error.code : String(error)),
      );

    const define = async (): Promise<DomainId> => {
      const disk = join(libvirt.sharedDir, `${name}.raw`);
      await writeFile(disk, Buffer.alloc(3 * MIB));
      await connection.domains.define(foreignDomainXml({ name, disks: fileDisk(disk, 'raw') }));
      return { name, uuid: await virsh('domuuid', name) };
    };

    test('describes the host', async () => {
      expect(await connection.host.hostname()).toBe(await virsh('hostname'));
      expect(await connection.host.version()).toMatch(/^libvirt \d+\.\d+\.\d+, QEMU \d+\.\d+\.\d+$/);
      expect((await connection.host.capabilities()).trim()).toBe(await virsh('capabilities'));
      expect(await connection.host.domainCapabilities()).toContain('<domainCapabilities>');
      const kind = { virtType: 'qemu', arch: 'x86_64', machine: 'pc' } as const;
      expect(await connection.host.domainCapabilities(kind)).toContain('<arch>x86_64</arch>');
      const { memoryBytes, cpus } = await connection.host.node();
      expect(await virsh('nodeinfo')).toMatch(new RegExp(`Memory size: +${memoryBytes / 1024} KiB`));
      expect(await virsh('nodeinfo')).toMatch(new RegExp(`CPU\\(s\\): +${cpus}\\n`));
    });

    test('lists and reads domains, without those that no longer exist', async () => {
      const id = await define();
      expect(await connection.domains.list()).toContainEqual(id);
      expect(await connection.domains.lookUp(name)).toEqual(id);
      expect(await connection.domains.lookUp('hgtest-nope')).toBeUndefined();
      const gone = { name: 'gone', uuid: randomUUID() };
      const [reading, other] = await connection.domains.read([id, gone]);
      expect(other).toBeUndefined();
      expect(reading).toMatchObject({ id, state: { word: 'shut off', isActive: false } });
      expect(reading?.xml.trim()).toBe(await virsh('dumpxml', name));
      expect(reading?.diskBytes.get('vda')).toBe(3 * MIB);
      expect(await connection.domains.read([])).toEqual([]);
      const [documents, ...rest] = await connection.domains.documents([id, gone]);
      expect(rest).toEqual([]);
      expect(documents).toEqual({ id, xml: reading?.xml });
      expect(await connection.domains.inspect(gone.uuid)).toBeUndefined();
      expect(await connection.domains.inspect(id.uuid)).toMatchObject({ isPersistent: true, xml: reading?.xml });
    });

    test('operates a domain, whose state follows', async () => {
      const { uuid } = await define();
      const { domains } = connection;
      const state = async (): Promise<string> => {
        const inspected = await domains.inspect(uuid);
        const expected = await virsh('domstate', name, '--reason');
        expect(`${inspected?.state.word} (${inspected?.state.reason})`).toBe(expected);
        return expected;
      };
      expect(await state()).toMatch(/^shut off/);
      await domains.setAutostart(uuid, true);
      expect(await virsh('dominfo', name)).toMatch(/Autostart: +enable/);
      await domains.setAutostart(uuid, false);
      expect(await virsh('dominfo', name)).toMatch(/Autostart: +disable/);
      await domains.start(uuid);
      expect(await state()).toBe('running (booted)');
      const [reading] = await domains.read([{ name, uuid }]);
      expect(reading).toMatchObject({ state: { word: 'running', isActive: true } });
      expect(reading?.diskBytes.get('vda')).toBe(3 * MIB);
      expect(reading?.persistentXml?.trim()).toBe(await virsh('dumpxml', '--inactive', name));
      await domains.suspend(uuid);
      expect(await state()).toBe('paused (user)');
      await domains.resume(uuid);
      expect(await state()).toBe('running (unpaused)');
      await domains.reset(uuid);
      await domains.shutdown(uuid);
      expect(await domains.interfaceAddresses(uuid, 'lease')).toEqual([]);
      expect(await code(domains.interfaceAddresses(uuid, 'agent'))).toBe('GUEST_AGENT_UNREACHABLE');
      expect(await domains.readBytes(uuid, 'vda')).toBeGreaterThanOrEqual(0);
      await domains.destroy(uuid);
      expect(await state()).toBe('shut off (destroyed)');
      await domains.undefine(uuid);
      expect(await domains.list()).not.toContainEqual({ name, uuid });
    });

    test('measures running domains and the host like virsh', async () => {
      const { uuid } = await define();
      const { domains, host } = connection;
      expect((await domains.statistics()).map(({ id }) => id.uuid)).not.toContain(uuid);
      await domains.start(uuid);
      const groups = ['--cpu-total', '--balloon', '--interface', '--block'];
      const ofVirsh = (): Promise<string> => virsh('domstats', '--raw', ...groups, name);
      const number = (text: string, field: string): number =>
        Number(new RegExp(`^  ${field}=(\\d+)$`, 'm').exec(text)?.[1]);
      const fields = ['cpu.time', 'block.0.rd.bytes', 'block.0.wr.bytes', 'balloon.current', 'block.count'];
      const measure = async () => {
        const before = await ofVirsh();
        return { before, found: (await domains.statistics()).find(({ id }) => id.uuid === uuid) };
      };
      let { before, found } = await measure();
      // Statistics never wait for QEMU, which may be busy right after its start.
      while (!fields.every((field) => found?.fields.has(field))) ({ before, found } = await measure());
      const after = await ofVirsh();
      expect(found?.id).toEqual({ uuid, name });
      for (const field of fields) {
        expect(found?.fields.get(field)).toBeGreaterThanOrEqual(number(before, field));
        expect(found?.fields.get(field)).toBeLessThanOrEqual(number(after, field));
      }
      expect(found?.fields.get('balloon.rss')).toBeGreaterThan(0);
      const cpuTimeMs = async (): Promise<number> =>
        [...(await virsh('nodecpustats')).matchAll(/^(?:user|system): +(\d+)/gm)]
          .map(([, ns]) => Number(ns) / 1e6)
          .reduce((sum, ms) => sum + ms, 0);
      const earlier = await cpuTimeMs();
      const usage = await host.usage();
      expect(usage.cpuTimeMs).toBeGreaterThanOrEqual(earlier);
      expect(usage.cpuTimeMs).toBeLessThanOrEqual(await cpuTimeMs());
      const { memoryBytes } = await host.node();
      expect(usage.memoryUsedBytes).toBeGreaterThan(0);
      expect(usage.memoryUsedBytes).toBeLessThan(memoryBytes);
      await domains.suspend(uuid);
      expect((await domains.statistics()).map(({ id }) => id.uuid)).toContain(uuid);
      await domains.destroy(uuid);
      expect((await domains.statistics()).map(({ id }) => id.uuid)).not.toContain(uuid);
    });

    test('changes metadata and devices in the running and in the persistent domain', async () => {
      const { uuid } = await define();
      await connection.domains.start(uuid);
      const change = { namespace: 'https://example.org/a', prefix: 'hg', xml: '<note>ü &amp; &lt;x&gt;</note>' };
      await connection.domains.setMetadata(uuid, { ...change, inLiveDomain: true, inPersistentDomain: false });
      expect(await virsh('metadata', name, change.namespace)).toContain('ü &amp; &lt;x&gt;');
      expect(await virsh('dumpxml', '--inactive', name)).not.toContain('<hg:note');
      await connection.domains.setMetadata(uuid, { ...change, inLiveDomain: true, inPersistentDomain: true });
      expect(await virsh('dumpxml', '--inactive', name)).toContain('<hg:note');
      const disk = fileDisk(join(libvirt.sharedDir, `${name}.raw`), 'raw');
      await connection.domains.detachDevice(uuid, { xml: disk, inLiveDomain: false, inPersistentDomain: true });
      expect(await virsh('dumpxml', '--inactive', name)).not.toContain(`${name}.raw`);
    });

    test('emits the events of domains', async () => {
      const events: DomainEvent[] = [];
      let notify = (): void => undefined;
      const subscription = await connection.watch({
        event: (event) => {
          if (event.domain !== name) return;
          events.push(event);
          notify();
        },
        ended: (error) => {
          throw error;
        },
      });
      const until = async (isExpected: (event: DomainEvent) => boolean): Promise<void> => {
        while (!events.some(isExpected)) {
          // A subscription that is not confirmed may have missed the change.
          if (!subscription.isConfirmed) await repeat();
          await Promise.race([
            new Promise<void>((resolve) => (notify = resolve)),
            new Promise((resolve) => setTimeout(resolve, subscription.isConfirmed ? 20_000 : 250)),
          ]);
        }
      };
      const { uuid } = await define();
      let repeat = (): Promise<unknown> => connection.domains.define(foreignDomainXml({ name, uuid }));
      await until(({ kind }) => kind === 'lifecycle');
      const change = { namespace: 'https://example.org/a', prefix: 'hg', xml: '<note/>' };
      repeat = () => connection.domains.setMetadata(uuid, { ...change, inLiveDomain: false, inPersistentDomain: true });
      await repeat();
      await until(({ kind }) => kind === 'metadata-change');
      expect(events.every(({ isStart }) => !isStart)).toBe(true);
      await connection.domains.start(uuid);
      await until(({ isStart }) => isStart);
      await subscription.stop();
    });

    test('manages networks', async () => {
      const { networks } = connection;
      await networks.define(
        `<network><name>${name}</name><bridge name='hgt${name.slice(-6)}'/><ip address='10.199.199.1' netmask='255.255.255.0'/></network>`,
      );
      expect(await networks.list('inactive')).toContain(name);
      expect(await networks.list('active')).not.toContain(name);
      expect((await networks.xml(name)).trim()).toBe(await virsh('net-dumpxml', name));
      await networks.enableAutostart(name);
      expect(await virsh('net-info', name)).toMatch(/Autostart: +yes/);
      await networks.undefine(name);
      expect(await networks.list('inactive')).not.toContain(name);
    });

    test('manages a pool and its volumes, and uploads a file', async () => {
      const { storage } = connection;
      const path = libvirt.sharedDir;
      await storage.definePool(`<pool type='dir'><name>${name}</name><target><path>${path}</path></target></pool>`);
      expect(await storage.poolState(name)).toMatchObject({ isActive: false });
      expect(await storage.activePools()).not.toContain(name);
      expect(await storage.allPools()).toContain(name);
      await storage.buildPool(name);
      await storage.startPool(name);
      expect(await storage.activePools()).toContain(name);
      const state = await storage.poolState(name);
      expect(state.isActive).toBe(true);
      expect(await virsh('pool-info', name, '--bytes')).toMatch(new RegExp(`Capacity: +${state.capacityBytes}`));
      expect((await storage.poolXml(name)).trim()).toBe(await virsh('pool-dumpxml', name));

      const volume = { pool: name, name: 'disk.raw' };
      const content = Buffer.from('headgate'.repeat(300_000));
      await writeFile(join(path, 'source'), content);
      await storage.createVolume(
        name,
        "<volume><name>disk.raw</name><capacity>0</capacity><target><format type='raw'/></target></volume>",
      );
      await storage.upload(volume, join(path, 'source'));
      expect(await virsh('vol-info', 'disk.raw', '--pool', name, '--bytes')).toMatch(
        new RegExp(`Capacity: +${content.length}`),
      );
      await storage.refreshPool(name);
      expect(await storage.volumes(name)).toEqual(expect.arrayContaining(['disk.raw', 'source']));
      expect(await storage.volumeXml(volume)).toContain('<name>disk.raw</name>');
      expect(await storage.volumesAt([join(path, 'disk.raw'), '/nonexistent'])).toEqual([
        expect.stringContaining('<name>disk.raw</name>'),
        undefined,
      ]);
      expect(await storage.volumePaths([volume, { pool: name, name: 'gone' }])).toEqual([
        join(path, 'disk.raw'),
        undefined,
      ]);
      await storage.deleteVolume(volume);
      expect(await storage.volumes(name)).not.toContain('disk.raw');
    });

    test('an upload that is canceled ends immediately, and everything else still works', async () => {
      const { storage } = connection;
      await storage.definePool(
        `<pool type='dir'><name>${name}</name><target><path>${libvirt.sharedDir}</path></target></pool>`,
      );
      await storage.startPool(name);
      await storage.createVolume(name, '<volume><name>big</name><capacity>0</capacity></volume>');
      const abort = new AbortController();
      // Never ends, because nothing is written to it until the end of the test.
      const pipe = join(libvirt.sharedDir, 'pipe');
      await libvirt.makePipe(pipe);
      const writer = await open(pipe, 'r+');
      const upload = code(storage.upload({ pool: name, name: 'big' }, pipe, { signal: abort.signal }));
      expect(await connection.host.hostname()).not.toBe('');
      abort.abort();
      expect(await upload).toBe('CONFLICT');
      expect(await connection.host.hostname()).not.toBe('');
      await writer.close();
    });

    test('reports a file that can not be read, and a volume that does not exist', async () => {
      const { storage } = connection;
      await storage.definePool(
        `<pool type='dir'><name>${name}</name><target><path>${libvirt.sharedDir}</path></target></pool>`,
      );
      await storage.startPool(name);
      await storage.createVolume(name, '<volume><name>disk</name><capacity>0</capacity></volume>');
      expect(await code(storage.upload({ pool: name, name: 'disk' }, '/nonexistent'))).toBe('BACKEND_FAILED');
      const file = join(libvirt.sharedDir, 'file');
      await writeFile(file, 'content');
      expect(await code(storage.upload({ pool: name, name: 'gone' }, file))).toBe('VOLUME_NOT_FOUND');
    });

    test("translates libvirt's errors", async () => {
      const { domains, networks, storage } = connection;
      const { uuid } = await define();
      const unknown = randomUUID();
      expect(await code(domains.start(unknown))).toBe('INSTANCE_NOT_FOUND');
      expect(await code(domains.xml(unknown, { withSecrets: false }))).toBe('INSTANCE_NOT_FOUND');
      expect(await code(domains.suspend(uuid))).toBe('WRONG_STATE');
      expect(await code(domains.define('<domain><name>'))).not.toBe('none');
      expect(await code(domains.define(foreignDomainXml({ name })))).toBe('ALREADY_EXISTS');
      expect(
        await code(
          domains.define(foreignDomainXml({ name: libvirt.freshName() }).replace("machine='pc'", "machine='nope'")),
        ),
      ).not.toBe('none');
      expect(await code(networks.start('hgtest-nope'))).not.toBe('none');
      expect(await code(storage.poolState('hgtest-nope'))).toBe('VOLUME_NOT_FOUND');
      expect(await code(storage.volumeXml('/nonexistent'))).toBe('VOLUME_NOT_FOUND');
      expect(await code(storage.deleteVolume({ pool: 'hgtest-nope', name: 'x' }))).toBe('VOLUME_NOT_FOUND');
    });
  });
}
