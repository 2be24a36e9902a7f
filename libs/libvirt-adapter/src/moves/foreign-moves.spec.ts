import type { IngestSpec } from '@headgate/domain-contracts';
import { OsinfoDatabase } from '../guest-profiles/osinfo-database.js';
import type { Users } from '../host/foreign-session.js';
import { FEATURES } from '../testing/domain-xml.js';
import { LibvirtDiskIngest, type LibvirtDiskIngestDeps } from './libvirt-disk-ingest.js';
import { LibvirtDiskSource, type LibvirtDiskSourceDeps } from './libvirt-disk-source.js';
import { LibvirtLiveDisks, type LibvirtLiveDisksDeps } from './libvirt-live-disks.js';

const URI = 'qemu+unix:///session?socket=/run/user/1000/libvirt/libvirt-sock';
const UUID = '2c749204-8322-4dfd-b324-cb2e556e0e9a';
const REF = { kind: 'vm', context: 'theirs', namespace: 'local', name: 'web' } as const;
const REFUSED = { code: 'NOT_SUPPORTED', message: expect.stringContaining('the user 1000') };
/** A disk that only root may read, which the user's domain names. */
const XML = `<domain type='kvm'>
  <name>web</name><uuid>${UUID}</uuid><memory>1048576</memory><vcpu>1</vcpu>
  <os><type arch='x86_64' machine='q35'>hvm</type><nvram>/etc/shadow</nvram></os>
  <devices><disk type='file' device='disk'><driver type='raw'/><source file='/etc/shadow'/><target dev='vda' bus='virtio'/></disk></devices>
</domain>`;

const foreign: Users = { own: () => 0, ownerOf: async () => 1000 };

/** Anything that reads or writes a file of the machine. */
const touched = (what: string) => (): never => {
  throw new Error(`${what} was touched`);
};

describe('a move of the VM of another user, by a service that is root', () => {
  const domains = {
    inspect: async () => ({ xml: XML, state: { isActive: false }, isPersistent: true }),
    persistentXml: async () => XML,
    autostart: async () => false,
  };
  const deps = {
    connection: { uri: URI, domains, host: { hostname: async () => 'host' } },
    finder: { find: async () => ({ uuid: UUID, name: 'web' }) },
    editor: { read: touched('the domain') },
    pool: { name: 'headgate', path: touched('the pool'), state: touched('the pool'), ensure: touched('the pool') },
    images: { measure: touched('the disk') },
    readUsage: touched('a disk of another VM'),
    profiles: new OsinfoDatabase(),
    createTemporaryFolder: touched('the temporary folder'),
    run: async () => ({ missing: false }),
    users: foreign,
  };

  test('is refused in its preflight, which opens no file', async () => {
    const source = new LibvirtDiskSource(deps as unknown as LibvirtDiskSourceDeps);
    const { refusals, vm } = await source.describe(REF);
    expect(refusals).toEqual([
      {
        code: 'NOT_SUPPORTED',
        reason: expect.stringContaining('This libvirt belongs to the user 1000'),
        remedy: 'Run a service as that user.',
      },
    ]);
    expect(vm.disks).toMatchObject([{ name: 'vda', sizeBytes: 0, usedBytes: null }]);
    expect(vm).not.toHaveProperty('firmwareVariables');
  });

  test('reads neither its disk nor the variables of its firmware', async () => {
    const source = new LibvirtDiskSource(deps as unknown as LibvirtDiskSourceDeps);
    const { signal } = new AbortController();
    await expect(source.open(REF, 'vda', signal)).rejects.toMatchObject(REFUSED);
    await expect(source.localDisk(REF, 'vda')).rejects.toMatchObject(REFUSED);
    await expect(source.readFirmwareVariables(REF)).rejects.toMatchObject(REFUSED);
  });

  test('is refused while it runs as well', async () => {
    const live = new LibvirtLiveDisks(deps as unknown as LibvirtLiveDisksDeps);
    expect(await live.check(REF)).toMatchObject([{ code: 'NOT_SUPPORTED' }]);
    const recording = { ref: REF, id: UUID };
    const { signal } = new AbortController();
    await expect(live.open(recording, 'vda', signal)).rejects.toMatchObject(REFUSED);
    await expect(live.changes(recording, { disk: 'vda', since: 1 }, signal)).rejects.toMatchObject(REFUSED);
  });

  test('writes nothing into the folder that the daemon of that user names', async () => {
    const ingest = new LibvirtDiskIngest(deps as unknown as LibvirtDiskIngestDeps);
    const target = { id: UUID, ref: REF };
    const { signal } = new AbortController();
    await expect(ingest.check()).rejects.toMatchObject(REFUSED);
    await expect(ingest.write(target, 'vda', signal)).rejects.toMatchObject(REFUSED);
    await expect(ingest.update(target, 'vda', signal)).rejects.toMatchObject(REFUSED);
    await expect(ingest.readFirmwareVariables(target)).rejects.toMatchObject(REFUSED);
    await expect(ingest.writeFirmwareVariables(target, Buffer.alloc(1))).rejects.toMatchObject(REFUSED);
  });

  test('is a move like any other for a service of that user', async () => {
    const users: Users = { own: () => 1000, ownerOf: async () => 1000 };
    const source = new LibvirtDiskSource({
      ...(deps as unknown as LibvirtDiskSourceDeps),
      users,
      readUsage: (async () => ({ isUsedByOthers: () => false })) as never,
      images: { measure: async () => ({ sizeBytes: 512, usedBytes: 0 }) } as never,
    });
    const { refusals } = await source.describe(REF);
    expect(refusals.filter(({ reason }) => reason.includes('belongs to the user'))).toEqual([]);
  });

  describe('that has a network card', () => {
    const own: Users = { own: () => 0, ownerOf: async () => 0 };
    const spec: IngestSpec = {
      id: UUID,
      ref: REF,
      mapping: { networks: {}, storageClasses: {} },
      vm: {
        cpu: 1,
        memoryBytes: 1024 ** 3,
        arch: 'x86_64',
        firmware: 'bios',
        tpm: false,
        autostart: false,
        tags: [],
        disks: [{ name: 'vda', sizeBytes: 1024, usedBytes: 0, bus: 'virtio' }],
        nics: [{ name: 'nic0', network: '', mac: '', model: 'virtio' }],
      },
    };
    const defined: string[] = [];
    const ingestOn = (network: string | undefined, ensure: () => Promise<string>) =>
      new LibvirtDiskIngest({
        ...deps,
        users: own,
        connection: {
          ...deps.connection,
          networks: { list: async () => (network === undefined ? [] : [network]) },
          domains: { define: async (xml: string) => void defined.push(xml) },
        },
        finder: { all: async () => [] },
        pool: {
          name: 'headgate',
          space: async () => undefined,
          path: async () => '/pool',
          ensure: async () => undefined,
          createBlank: async () => undefined,
        },
        describeHost: async () => ({
          name: 'host',
          arch: 'x86_64',
          memoryBytes: 0,
          cpus: 1,
          accelerator: 'tcg',
          features: FEATURES,
          isRemote: false,
          ...(network !== undefined && { network }),
        }),
        findDiscWriter: async () => undefined,
        diskIo: async () => ({}),
        clock: { iso: () => '2026-01-01T00:00:00Z' },
        network: { ensure },
        log: { warn: () => undefined },
      } as unknown as LibvirtDiskIngestDeps);
    const fails = async (): Promise<string> => {
      throw new Error('dnsmasq is not installed');
    };

    beforeEach(() => void (defined.length = 0));

    test('names it as a loss in its preflight while no network is active, and not otherwise', async () => {
      const plan = await ingestOn(undefined, fails).plan(spec);
      expect(plan.losses).toEqual([
        {
          what: expect.stringMatching(/network card nic0, unless .* none is active/),
          category: 'devices',
          severity: 'warning',
        },
      ]);
      expect((await ingestOn('default', fails).plan(spec)).losses).toEqual([]);
      expect((await ingestOn(undefined, fails).plan({ ...spec, vm: { ...spec.vm, nics: [] } })).losses).toEqual([]);
    });

    test('reports that it was lost when the copy is created without it', async () => {
      expect(await ingestOn(undefined, fails).begin(spec)).toEqual([
        { what: 'The network card nic0: dnsmasq is not installed', category: 'devices', severity: 'warning' },
      ]);
      expect(defined).toHaveLength(1);
      expect(defined[0]).not.toContain('<interface');
    });

    test('loses nothing when the network can be started after all', async () => {
      expect(await ingestOn(undefined, async () => 'headgate').begin(spec)).toEqual([]);
      expect(defined[0]).toContain('<source network="headgate"/>');
    });
  });
});
