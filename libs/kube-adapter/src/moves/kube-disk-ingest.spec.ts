import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { DiskIngest, IngestSpec, InstanceRef, PortableVm } from '@headgate/domain-contracts';
import { NAMESPACE, SandboxHarness } from '../testing/sandbox-harness.contract.js';

const MIB = 1024 ** 2;
const never = new AbortController().signal;
const VM: PortableVm = {
  cpu: 2,
  memoryBytes: 512 * MIB,
  arch: 'x86_64',
  firmware: 'uefi-secure',
  tpm: false,
  autostart: true,
  tags: ['prod'],
  cloudInit: '#cloud-config\npassword: secret-text\n',
  disks: [
    { name: 'vda', sizeBytes: 4 * MIB, usedBytes: null, bus: 'sata' },
    { name: 'vdb', sizeBytes: 2 * MIB, usedBytes: null, bus: 'virtio', storageClass: 'fast' },
  ],
  nics: [
    { name: 'nic0', network: 'default', mac: '52:54:00:00:00:01', model: 'virtio' },
    { name: 'nic1', network: 'br0', mac: '52:54:00:00:00:02', model: 'e1000e' },
  ],
};

describe('a VM that a cluster receives', () => {
  let harness: SandboxHarness;
  let ingest: DiskIngest;

  beforeEach(async () => {
    harness = await SandboxHarness.open();
    ingest = harness.backend.require('diskIngest');
  });
  afterEach(() => harness.close());

  const specOf = (mapping: Partial<IngestSpec['mapping']> = {}, ref: InstanceRef = harness.freshRef()): IngestSpec => ({
    id: randomUUID(),
    ref,
    vm: VM,
    mapping: { networks: {}, storageClasses: {}, ...mapping },
  });
  const listed = (resource: string) => harness.sandbox.store.list(resource, { namespace: NAMESPACE });
  const objects = (): string[] =>
    ['virtualmachines.kubevirt.io', 'datavolumes.cdi.kubevirt.io', 'persistentvolumeclaims', 'secrets']
      .flatMap(listed)
      // Those that CDI fills and renames come and go on their own.
      .filter(({ metadata }) => !metadata.name?.startsWith('prime-'))
      .map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  const fill = async (spec: IngestSpec, disk: string, data: Buffer): Promise<void> => {
    const writer = await ingest.write(spec, disk, never);
    await writer.write(MIB, data);
    await writer.finish();
  };

  test('has the firmware, the buses, the cards with their addresses, the tags and the cloud-init data', async () => {
    const [lan] = await harness.givenNetworks();
    const spec = specOf({ networks: { br0: lan } });
    const { warnings, losses, firmwareVariables } = await ingest.plan(spec);
    expect(warnings).toEqual([expect.stringContaining('nic0 gets the network of the pod')]);
    expect(losses).toEqual([{ what: expect.stringContaining('Autostart'), category: 'placement', severity: 'info' }]);
    expect(firmwareVariables).toContain('can not be filled');
    await ingest.begin(spec);
    for (const { name } of VM.disks) await fill(spec, name, Buffer.from('data'));
    await ingest.commit(spec);
    const [vm] = listed('virtualmachines.kubevirt.io');
    const { domain, networks, volumes } = (vm as unknown as { spec: { template: { spec: Record<string, never> } } })
      .spec.template.spec;
    expect(domain).toMatchObject({
      firmware: { bootloader: { efi: { secureBoot: true } } },
      devices: {
        disks: [{ bootOrder: 1, disk: { bus: 'sata' } }, { disk: { bus: 'virtio' } }, { name: 'cloudinit' }],
        interfaces: [
          { masquerade: {}, macAddress: '52:54:00:00:00:01' },
          { bridge: {}, macAddress: '52:54:00:00:00:02', model: 'e1000e' },
        ],
      },
    });
    expect(networks).toMatchObject([{ pod: {} }, { multus: { networkName: `${NAMESPACE}/${lan}` } }]);
    expect(volumes).toHaveLength(3);
    expect(vm?.metadata.labels).toMatchObject({ 'svc.dev/tag.prod': 'true' });
    // The user data is a secret.
    expect(JSON.stringify(listed('datavolumes.cdi.kubevirt.io'))).not.toContain('secret-text');
    expect(JSON.stringify(vm)).not.toContain('secret-text');
  });

  test('is deleted with all of its disks and its secret, like any other', async () => {
    const before = objects();
    const spec = specOf();
    await ingest.begin(spec);
    for (const { name } of VM.disks) await fill(spec, name, Buffer.from('data'));
    await ingest.commit(spec);
    await harness.recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');
    await harness.backend.require('provisioning').delete(spec.ref);
    // The cluster removes the VM, and what it owns, after its answer.
    await harness.recorder.until(() => harness.recorder.vm(spec.ref) === undefined);
    expect(objects()).toEqual(before);
  });

  test('leaves nothing behind when it is discarded, and keeps the disks of others', async () => {
    const other = specOf();
    await ingest.begin(other);
    // CDI creates the volumes of a disk some time after the disk, but before it is filled.
    for (const { name } of VM.disks) await fill(other, name, Buffer.from('data'));
    const before = objects();
    const spec = specOf({}, other.ref);
    await ingest.begin(spec);
    await fill(spec, 'vda', Buffer.from('data'));
    await ingest.discard(spec);
    expect(objects()).toEqual(before);
  });

  test('can be filled again after an interruption, with nothing of the first attempt', async () => {
    const spec = { ...specOf(), vm: { ...VM, disks: VM.disks.slice(0, 1) } };
    await ingest.begin(spec);
    await fill(spec, 'vda', Buffer.alloc(2 * MIB, 'first'));
    await fill(spec, 'vda', Buffer.from('second'));
    await ingest.commit(spec);
    await harness.recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');
    const source = harness.backend.require('diskSource');
    const [disk] = (await source.describe(spec.ref)).vm.disks;
    const content = await buffer(await source.open(spec.ref, disk?.name ?? '', never));
    const expected = Buffer.alloc(4 * MIB);
    expected.write('second', MIB);
    expect(content.equals(expected)).toBe(true);
  });

  test('is refused with the reason for a network or a storage class that does not exist', async () => {
    const { refusals } = await ingest.plan(specOf({ networks: { br0: 'none' }, storageClasses: { fast: 'none' } }));
    expect(refusals.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('storage class none'),
      expect.stringContaining('network attachment definition none'),
    ]);
  });

  test('fails when the upload is interrupted, and can be discarded', async () => {
    const spec = specOf();
    await ingest.begin(spec);
    const stop = new AbortController();
    const writer = await ingest.write(spec, 'vda', stop.signal);
    await writer.write(0, Buffer.from('data'));
    stop.abort(new Error('Canceled.'));
    await expect(writer.finish()).rejects.toBeDefined();
    await writer.abort();
    await ingest.discard(spec);
    expect(await ingest.state(spec)).toBe('absent');
  });
});
