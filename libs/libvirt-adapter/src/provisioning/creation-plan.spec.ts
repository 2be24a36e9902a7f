import { throwFirstRefusal, DomainError, type VmSource, type VmSpec } from '@headgate/domain-contracts';
import { EgressPolicy } from '@headgate/downloads';
import { DomainFinder } from '../domains/domain-finder.js';
import { StoragePool } from '../storage/storage-pool.js';
import { BUILT_IN_PROFILES } from '../guest-profiles/guest-profile.js';
import { FEATURES, ownDomainXml } from '../testing/domain-xml.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { TINY_ENTRY } from '../testing/tiny-guest.js';
import { planCreation, type CreationPlan, type CreationPlanDeps } from './creation-plan.js';
import type { Host } from '../host/host.js';

const HOST: Host = {
  name: 'host-1',
  arch: 'x86_64',
  memoryBytes: 4 * 1024 ** 3,
  cpus: 8,
  accelerator: 'kvm',
  features: FEATURES,
  network: 'default',
  isRemote: false,
};
const TINY: VmSource = { kind: 'image', entry: TINY_ENTRY };

const imported = (name: string): VmSource => ({
  kind: 'image',
  entry: { name, description: '', containerDisk: '', defaultUser: '', imported: true },
});

describe('planCreation', () => {
  let libvirt: FakeLibvirt;

  beforeEach(() => {
    libvirt = new FakeLibvirt();
    libvirt.addPool('headgate', '/images/headgate');
  });

  const spec = (overrides: Partial<VmSpec> = {}): VmSpec => ({
    ref: { kind: 'vm', context: 'local', namespace: 'local', name: 'new' },
    cpu: 1,
    memoryBytes: 256 * 1024 ** 2,
    diskBytes: 1024 ** 3,
    source: TINY,
    start: false,
    ...overrides,
  });
  const deps = (overrides: Partial<CreationPlanDeps> = {}): CreationPlanDeps => ({
    finder: new DomainFinder('local', libvirt.connection()),
    connection: libvirt.connection(),
    pool: new StoragePool(libvirt.connection(), 'headgate', '/images/headgate'),
    describeHost: () => Promise.resolve(HOST),
    profiles: { find: (id) => Promise.resolve(BUILT_IN_PROFILES.find((profile) => profile.id === id)) },
    egress: new EgressPolicy(),
    hasSpaceForDownloads: () => Promise.resolve(true),
    hasTinyGuest: true,
    imported: { bytesOf: (name) => Promise.resolve(name === 'golden' ? 1024 ** 3 : undefined) },
    findDiscWriter: () => Promise.resolve('xorrisofs'),
    findClaim: (claim) => Promise.reject(new DomainError('VOLUME_NOT_FOUND', `There is no volume ${claim}.`)),
    usersOf: () => Promise.resolve([]),
    ...overrides,
  });
  const codes = async (wanted: VmSpec, overrides: Partial<CreationPlanDeps> = {}) =>
    (await planCreation(wanted, deps(overrides))).refusals.map(({ code }) => code);

  test('lists its steps in order and changes nothing', async () => {
    const plan = await planCreation(spec({ start: true }), deps());
    expect(plan).toMatchObject({ refusals: [], warnings: [], hasSeed: true });
    expect(plan.steps.map(({ name }) => name)).toEqual(['define', 'build', 'disk', 'seed', 'start']);
    expect(libvirt.changes).toEqual([]);
  });

  test.each<[string, Partial<VmSpec>, string]>([
    [
      'a name that is taken',
      { ref: { kind: 'vm', context: 'local', namespace: 'local', name: 'web' } },
      'ALREADY_EXISTS',
    ],
    [
      'a name with a trailing dash',
      { ref: { kind: 'vm', context: 'local', namespace: 'local', name: 'web-' } },
      'INVALID_NAME',
    ],
    ['another namespace', { ref: { kind: 'vm', context: 'local', namespace: 'lab', name: 'new' } }, 'INVALID_INPUT'],
    ['a node that is not this one', { node: 'host-2' }, 'NODE_NOT_FOUND'],
    ['an instancetype', { instancetype: 'u1.small' }, 'NOT_SUPPORTED'],
    ['a network that does not exist', { network: 'gone' }, 'INVALID_INPUT'],
    ['a pool that does not exist', { storageClass: 'gone' }, 'INVALID_INPUT'],
    ['a preference', { preference: 'debian' }, 'NOT_SUPPORTED'],
    ['a volume that does not exist', { source: { kind: 'pvc', claim: 'gone' } }, 'VOLUME_NOT_FOUND'],
    ['a URL with an unsupported scheme', { source: { kind: 'import', url: 'file:///etc/passwd' } }, 'INVALID_SOURCE'],
    ['a URL of this machine', { source: { kind: 'iso', url: 'http://127.0.0.1:8006/api' } }, 'INVALID_SOURCE'],
    ['an image without a registry', { source: { kind: 'containerDisk', image: 'debian' } }, 'INVALID_SOURCE'],
    ['an imported image that is not ready', { source: imported('half') }, 'UNKNOWN_CATALOG_ENTRY'],
    [
      'a disk smaller than the imported image',
      { source: imported('golden'), diskBytes: 1024 ** 2 },
      'INVALID_QUANTITY',
    ],
  ])('refuses %s', async (_title, overrides, code) => {
    libvirt.add(ownDomainXml());
    expect(await codes(spec(overrides))).toEqual([code]);
  });

  test('creates a VM from the disk of a bootc image, which was built for the architecture of this machine', async () => {
    const bootc: Partial<VmSpec> = { source: { kind: 'bootc', image: 'registry.example/a' } };
    const own = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
    const other = own === 'x86_64' ? 'aarch64' : 'x86_64';
    const planOn = (arch: string) =>
      planCreation(spec(bootc), deps({ describeHost: () => Promise.resolve({ ...HOST, arch }) }));
    expect((await planOn(own)).steps.map(({ name }) => name)).toEqual(['define', 'disk', 'seed']);
    expect((await planOn(other)).refusals.map(({ code }) => code)).toEqual(['NOT_SUPPORTED']);
  });

  test('needs no space for a download when the image was imported, and keeps its volume from being claimed', async () => {
    const plan = await planCreation(
      spec({ source: imported('golden') }),
      deps({ hasSpaceForDownloads: () => Promise.resolve(false) }),
    );
    expect([plan.refusals, plan.steps.map(({ name }) => name)]).toEqual([[], ['define', 'base', 'disk', 'seed']]);
    const path = '/images/headgate/image-11111111-golden.qcow2';
    const findClaim = () => Promise.resolve({ path, format: 'qcow2', bytes: 1024 ** 3 });
    expect(await codes(spec({ source: { kind: 'pvc', claim: 'image-11111111-golden' } }), { findClaim })).toEqual([
      'CONFLICT',
    ]);
  });

  describe('the platform', () => {
    const platformOf = async (overrides: Partial<VmSpec>, host: Partial<Host> = {}) => {
      const describeHost = () => Promise.resolve({ ...HOST, ...host });
      const { platform, refusals } = await planCreation(spec(overrides), deps({ describeHost }));
      return { ...platform, refusals: refusals.map(({ code, reason }) => `${code} ${reason.split(':')[0]}`) };
    };
    const image: VmSource = { kind: 'import', url: 'https://host.example/a.img' };
    const without = (features: Partial<Host['features']>): Partial<Host> => ({
      features: { ...FEATURES, ...features },
    });

    test.each<[string, Partial<VmSpec>, Partial<Host>, Partial<CreationPlan['platform']>]>([
      ['BIOS by default', { source: image }, {}, { firmware: 'bios', tpm: false }],
      ['UEFI on aarch64', { source: image }, { arch: 'aarch64' }, { firmware: 'uefi' }],
      [
        'Secure Boot and a TPM for Windows 11',
        { source: image, os: 'win11' },
        {},
        { firmware: 'uefi-secure', tpm: true },
      ],
      [
        'the requested firmware and TPM',
        { source: image, os: 'win11', firmware: 'uefi', tpm: false },
        {},
        { firmware: 'uefi', tpm: false },
      ],
    ])('has %s', async (_title, overrides, host, expected) => {
      expect(await platformOf(overrides, host)).toMatchObject({ ...expected, refusals: [] });
    });

    test.each<[string, Partial<VmSpec>, Partial<Host>, string]>([
      ['an operating system that is not known', { source: image, os: 'plan9' }, {}, 'INVALID_INPUT os'],
      [
        'UEFI without firmware images',
        { source: image, firmware: 'uefi' },
        without({ hasUefi: false }),
        'NOT_SUPPORTED firmware',
      ],
      [
        'Secure Boot without enrolled keys',
        { source: image, firmware: 'uefi-secure' },
        without({ hasSecureBoot: false }),
        'NOT_SUPPORTED firmware',
      ],
      ['a TPM without swtpm', { source: image, tpm: true }, without({ tpmModels: [] }), 'NOT_SUPPORTED tpm'],
      ['BIOS on aarch64', { source: image, firmware: 'bios' }, { arch: 'aarch64' }, 'NOT_SUPPORTED firmware'],
      ['UEFI for an image that starts with BIOS only', { firmware: 'uefi' }, {}, 'NOT_SUPPORTED firmware'],
      ['more CPUs than QEMU has', { source: image, cpu: 300 }, {}, 'INVALID_INPUT cpu'],
    ])('refuses %s', async (_title, overrides, host, refusal) => {
      expect((await platformOf(overrides, host)).refusals).toEqual([refusal]);
    });

    test('can grow to four times its size, as far as the machine has that much', async () => {
      const GIB = 1024 ** 3;
      expect(await platformOf({ cpu: 1, memoryBytes: GIB })).toMatchObject({ maxCpu: 4, maxMemoryBytes: 4 * GIB });
      expect(await platformOf({ cpu: 4, memoryBytes: 2 * GIB })).toMatchObject({ maxCpu: 8, maxMemoryBytes: 4 * GIB });
      const large = await platformOf({ cpu: 16, memoryBytes: 8 * GIB });
      expect(large.maxCpu).toBe(16);
      expect(large).not.toHaveProperty('maxMemoryBytes');
      expect(await platformOf({ memoryBytes: 512 * 1024 ** 2 })).not.toHaveProperty('maxMemoryBytes');
    });
  });

  test('puts the disk into the requested pool, and the VM on the requested network', async () => {
    libvirt.addPool('fast', '/images/fast');
    libvirt.networks.set('lan', true);
    const plan = await planCreation(spec({ storageClass: 'fast', network: 'lan' }), deps());
    expect([plan.refusals, plan.diskPool.name]).toEqual([[], 'fast']);
    expect(plan.steps.map(({ detail }) => detail)).toEqual(
      expect.arrayContaining([
        'Define the VM new in libvirt, on the network lan.',
        'Create its disk of 1Gi in the pool fast.',
      ]),
    );
  });

  test('refuses an inactive network only for a VM that is started', async () => {
    libvirt.networks.set('lan', false);
    expect(await codes(spec({ network: 'lan' }))).toEqual([]);
    expect(await codes(spec({ network: 'lan', start: true }))).toEqual(['WRONG_STATE']);
  });

  test('refuses a pool for a volume that exists', async () => {
    const findClaim = () => Promise.resolve({ path: '/x.qcow2', format: 'qcow2', bytes: 1024 ** 3 });
    const source: VmSource = { kind: 'pvc', claim: 'x' };
    expect(await codes(spec({ source, storageClass: 'headgate' }), { findClaim })).toEqual(['NOT_SUPPORTED']);
  });

  test('does not start the network of the service for a VM on another one', async () => {
    libvirt.networks.set('lan', true);
    const describeHost = () => Promise.resolve({ ...HOST, network: undefined });
    const { steps, warnings } = await planCreation(spec({ network: 'lan' }), deps({ describeHost } as never));
    expect([steps.map(({ name }) => name), warnings]).toEqual([expect.not.arrayContaining(['network']), []]);
  });

  test('reports all refusals together, and throws the first', async () => {
    const plan = await planCreation(spec({ node: 'host-2', instancetype: 'u1.small' }), deps());
    expect(plan.refusals).toHaveLength(2);
    expect(plan.steps).toEqual([]);
    expect(() => throwFirstRefusal(plan)).toThrow(expect.objectContaining({ code: 'NODE_NOT_FOUND' }));
  });

  test('refuses a volume that another VM uses', async () => {
    const found = {
      findClaim: () => Promise.resolve({ path: '/images/a', format: 'raw', bytes: 1 }),
      usersOf: () => Promise.resolve(['db']),
    };
    const { refusals } = await planCreation(spec({ source: { kind: 'pvc', claim: 'a' } }), deps(found));
    expect(refusals).toEqual([expect.objectContaining({ code: 'BUSY', reason: expect.stringContaining('db') })]);
  });

  test('refuses when the storage pool is full, and warns when it may fill up', async () => {
    const pool = libvirt.pools.get('headgate')!;
    pool.availableBytes = 512 * 1024 ** 2;
    expect((await planCreation(spec(), deps())).warnings).toEqual([expect.stringContaining('may grow')]);
    pool.availableBytes = 1024 ** 2;
    expect(await codes(spec())).toEqual(['INSUFFICIENT_STORAGE']);
  });

  test('refuses a disk that is larger than the storage pool', async () => {
    expect(await codes(spec({ diskBytes: 900 * 1024 ** 4 }))).toEqual(['INSUFFICIENT_STORAGE']);
    // The pool does not exist before the first VM; its file system does.
    libvirt.pools.clear();
    expect(await codes(spec({ diskBytes: 900 * 1024 ** 4 }))).toEqual(['INSUFFICIENT_STORAGE']);
  });

  test('refuses a download when the disk is almost full', async () => {
    const full = { hasSpaceForDownloads: () => Promise.resolve(false) };
    const url = 'https://host.example/a.img';
    expect(await codes(spec({ source: { kind: 'import', url } }), full)).toEqual(['INSUFFICIENT_STORAGE']);
    expect(await codes(spec(), full)).toEqual([]);
  });

  test('refuses user data when no ISO writer is installed, and otherwise skips the seed', async () => {
    const none = { findDiscWriter: () => Promise.resolve(undefined) };
    expect(await codes(spec({ cloudInit: '#cloud-config' }), none)).toEqual(['NOT_SUPPORTED']);
    expect(await planCreation(spec(), deps(none))).toMatchObject({ refusals: [], hasSeed: false });
  });

  test('warns about software emulation and an inactive network', async () => {
    const slow = { describeHost: () => Promise.resolve({ ...HOST, accelerator: 'tcg' as const, network: undefined }) };
    expect((await planCreation(spec(), deps(slow))).warnings).toEqual([
      expect.stringContaining('KVM'),
      expect.stringContaining('network'),
    ]);
  });

  test('never reveals a password in a URL', async () => {
    const plan = await planCreation(
      spec({ source: { kind: 'import', url: 'https://u:s3cret@host.example/a.img?token=s3cret' } }),
      deps(),
    );
    expect(JSON.stringify(plan)).not.toContain('s3cret');
  });

  describe('with a cloud image of the catalog', () => {
    const image = (arch = 'x86_64', host = 'images.example'): VmSource => ({
      kind: 'image',
      entry: {
        name: 'arch',
        description: '',
        containerDisk: '',
        defaultUser: '',
        cloudImages: { [arch]: { url: `https://${host}/a.qcow2`, checksums: `https://${host}/SHA256SUMS` } },
      },
    });

    test('downloads it and compares it with the checksum of its publisher', async () => {
      const { steps, refusals } = await planCreation(spec({ source: image() }), deps());
      expect(refusals).toEqual([]);
      const detail = 'Download the image https://images.example/a.qcow2.';
      expect(steps).toContainEqual({ name: 'download', detail, reportedAs: ['Downloading the image'] });
      expect(steps).toContainEqual({
        name: 'verify',
        detail: expect.stringContaining('https://images.example/SHA256SUMS'),
      });
    });

    test('refuses one for other machines only', async () => {
      const { refusals } = await planCreation(spec({ source: image('aarch64') }), deps());
      expect(refusals).toEqual([
        expect.objectContaining({ code: 'NOT_SUPPORTED', reason: expect.stringContaining('aarch64 only') }),
      ]);
    });

    test('prefers the container disk of an entry without a download for this machine', async () => {
      const source = image('aarch64') as Extract<VmSource, { kind: 'image' }>;
      const entry = { ...source.entry, containerDisk: 'registry.example.org/arch:1' };
      const { steps } = await planCreation(spec({ source: { kind: 'image', entry } }), deps());
      const detail = expect.stringContaining('registry.example.org/arch:1');
      expect(steps).toContainEqual({ name: 'pull', detail, reportedAs: ['Downloading the image'] });
    });

    test('refuses a private address', async () => {
      expect(await codes(spec({ source: image('x86_64', '169.254.169.254') }))).toContain('INVALID_SOURCE');
    });
  });
});
