import type { VmSource, VmSpec } from '@headgate/domain-contracts';
import { bootVolumes } from './boot-volumes.js';
import { cloudInitInline, fitsInline } from './cloud-init.js';
import { vmManifest } from './vm-manifest.js';

const GIB = 1024 ** 3;

const specOf = (overrides: Partial<VmSpec> = {}): VmSpec => ({
  ref: { kind: 'vm', context: 'prod', namespace: 'lab', name: 'web' },
  cpu: 2,
  memoryBytes: 4 * GIB,
  diskBytes: 20 * GIB,
  source: { kind: 'import', url: 'https://images.example/a.qcow2' },
  start: false,
  ...overrides,
});

const CLUSTER = { createId: 'ab12', architecture: 'amd64', canImport: true };

const manifest = (overrides: Partial<VmSpec> = {}, cluster: Partial<typeof CLUSTER> = {}) => {
  const spec = specOf(overrides);
  const object = vmManifest({
    spec,
    createId: 'ab12',
    disks: bootVolumes(spec, { ...CLUSTER, ...cluster }),
    runStrategy: 'Halted',
  });
  return JSON.parse(JSON.stringify(object));
};
const domain = (overrides: Partial<VmSpec> = {}, cluster: Partial<typeof CLUSTER> = {}) =>
  manifest(overrides, cluster).spec.template.spec.domain;
const entry = (containerDisk: string) => ({ name: 'y', description: '', containerDisk, defaultUser: '' });

describe('vmManifest', () => {
  test('writes CPUs as sockets and leaves the maximum of CPU and memory to KubeVirt, whose live scaling needs that', () => {
    expect(domain()).toMatchObject({
      cpu: { sockets: 2, cores: 1, threads: 1 },
      memory: { guest: '4Gi' },
    });
    expect(domain().cpu).not.toHaveProperty('maxSockets');
    expect(domain().memory).not.toHaveProperty('maxGuest');
  });

  test('rounds memory up to whole hotplug blocks', () => {
    expect(domain({ memoryBytes: 4_000_000_000 }).memory).toEqual({ guest: '3816Mi' });
    expect(domain({ memoryBytes: GIB / 2 }).memory).toEqual({ guest: '512Mi' });
  });

  test.each([
    ['amd64', 'sata'],
    ['arm64', 'scsi'],
  ])('attaches an installer on %s by %s', (architecture, bus) => {
    const source = { kind: 'iso', url: 'https://images.example/a.iso' } as const;
    const { disks } = domain({ source }, { architecture }).devices;
    expect(disks).toContainEqual({ name: 'installer', bootOrder: 2, cdrom: { bus } });
  });

  test.each([
    [{}, undefined, undefined, undefined],
    [{ firmware: 'bios' }, { bios: {} }, undefined, undefined],
    [{ firmware: 'uefi' }, { efi: { secureBoot: false } }, undefined, undefined],
    [{ firmware: 'uefi-secure' }, { efi: { secureBoot: true } }, { smm: { enabled: true } }, undefined],
    [{ tpm: true }, undefined, undefined, { persistent: true }],
    [
      { firmware: 'uefi-secure', tpm: true },
      { efi: { secureBoot: true, persistent: true } },
      { smm: { enabled: true } },
      { persistent: true },
    ],
  ] as const)('writes the firmware and TPM of %j', (choice, bootloader, features, tpm) => {
    const spec = domain(choice);
    expect(spec.firmware?.bootloader).toEqual(bootloader);
    expect(spec.features).toEqual(features);
    expect(spec.devices.tpm).toEqual(tpm);
  });

  test('leaves the size to the instancetype and the devices to the preference', () => {
    const spec = domain({ instancetype: 'u1.small', preference: 'fedora' });
    expect(spec).not.toHaveProperty('cpu');
    expect(spec).not.toHaveProperty('memory');
    expect(spec.devices.disks[0]).toEqual({ name: 'root', bootOrder: 1, disk: {} });
    expect(spec.devices.interfaces).toEqual([{ name: 'default', masquerade: {} }]);
  });

  test('uses masquerade on the pod network, so that the VM can be migrated', () => {
    expect(domain().devices.interfaces).toEqual([{ name: 'default', masquerade: {}, model: 'virtio' }]);
    expect(manifest().spec.template.spec.networks).toEqual([{ name: 'default', pod: {} }]);
  });

  test('labels the VM and its DataVolumes', () => {
    const { metadata, spec } = manifest();
    expect(metadata).toMatchObject({ labels: { 'svc.dev/vm': 'web' }, annotations: { 'svc.dev/create-id': 'ab12' } });
    expect(spec.dataVolumeTemplates[0].metadata).toEqual({ name: 'web-root-ab12', labels: { 'svc.dev/vm': 'web' } });
  });

  test.each<[VmSource, string[], string[]]>([
    [{ kind: 'containerDisk', image: 'registry.example.org/x/y:1' }, ['containerDisk'], []],
    [{ kind: 'image', entry: entry('docker://registry.example.org/x/y:1') }, ['dataVolume'], ['registry']],
    [{ kind: 'image', entry: entry('https://images.example/y.qcow2') }, ['dataVolume'], ['http']],
    [{ kind: 'import', url: 'https://a/b' }, ['dataVolume'], ['http']],
    [{ kind: 'iso', url: 'https://a/b' }, ['dataVolume', 'dataVolume'], ['blank', 'http']],
    [{ kind: 'pvc', claim: 'old' }, ['persistentVolumeClaim'], []],
  ])('boots from %j', (source, volumes, templates) => {
    const { spec } = manifest({ source });
    const kinds = spec.template.spec.volumes.map((volume: object) =>
      Object.keys(volume).filter((key) => key !== 'name'),
    );
    expect(kinds.flat()).toEqual(volumes);
    expect(
      (spec.dataVolumeTemplates ?? []).flatMap((t: { spec: { source: object } }) => Object.keys(t.spec.source)),
    ).toEqual(templates);
  });

  test.each(['registry.example.org/x/y:1', 'docker://registry.example.org/x/y:1'])(
    'imports the catalog image %s, so that the VM keeps its data',
    (reference) => {
      const source = { kind: 'image', entry: entry(reference) } as const;
      const [template] = manifest({ source }).spec.dataVolumeTemplates;
      expect(template.spec.source).toEqual({ registry: { url: 'docker://registry.example.org/x/y:1' } });
      expect(template.spec.storage.resources.requests.storage).toBe('20Gi');
      const { volumes } = manifest({ source }, { canImport: false }).spec.template.spec;
      expect(volumes).toEqual([{ name: 'root', containerDisk: { image: 'registry.example.org/x/y:1' } }]);
    },
  );

  test('does not label an existing claim, which stays when the VM is deleted', () => {
    const { spec } = manifest({ source: { kind: 'pvc', claim: 'old' } });
    expect(spec).not.toHaveProperty('dataVolumeTemplates');
    expect(spec.template.spec.volumes).toEqual([{ name: 'root', persistentVolumeClaim: { claimName: 'old' } }]);
  });

  test('puts user data of up to 2048 bytes inline, counted in bytes', () => {
    expect(fitsInline('x'.repeat(2048))).toBe(true);
    expect(fitsInline('x'.repeat(2049))).toBe(false);
    expect(fitsInline('é'.repeat(1025))).toBe(false);
    const spec = specOf();
    const object = vmManifest({
      spec,
      createId: 'a',
      disks: bootVolumes(spec, CLUSTER),
      cloudInit: cloudInitInline('#x'),
      runStrategy: 'Halted',
    });
    expect(JSON.stringify(object)).toContain('"cloudInitNoCloud":{"userData":"#x"}');
  });
});
