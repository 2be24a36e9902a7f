import { randomUUID } from 'node:crypto';
import type { IngestSpec, PortableVm, VmReading } from '@headgate/domain-contracts';
import type { KubeObject } from '@headgate/kube-sandbox';
import { NAMESPACE, SandboxHarness } from '../testing/sandbox-harness.contract.js';

const MIB = 1024 ** 2;
const VM: PortableVm = {
  cpu: 1,
  memoryBytes: 256 * MIB,
  arch: 'x86_64',
  firmware: 'bios',
  tpm: false,
  autostart: false,
  tags: [],
  disks: [{ name: 'vda', sizeBytes: 4 * MIB, usedBytes: null, bus: 'virtio' }],
  nics: [],
};

describe('the state and the operating system of a VM of a cluster', () => {
  let harness: SandboxHarness;
  beforeEach(async () => void (harness = await SandboxHarness.open()));
  afterEach(() => harness.close());

  const manifest = (): { metadata: KubeObject['metadata']; spec: { template: { spec: { domain: object } } } } =>
    harness.sandbox.store.list('virtualmachines.kubevirt.io', { namespace: NAMESPACE })[0] as never;
  const received = async (more: Partial<PortableVm>): Promise<IngestSpec> => {
    const ingest = harness.backend.require('diskIngest');
    const mapping = { networks: {}, storageClasses: {} };
    const spec: IngestSpec = { id: randomUUID(), ref: harness.freshRef(), vm: { ...VM, ...more }, mapping };
    await ingest.begin(spec);
    const writer = await ingest.write(spec, 'vda', new AbortController().signal);
    await writer.write(0, Buffer.from('data'));
    await writer.finish();
    await ingest.commit(spec);
    await harness.recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');
    return spec;
  };
  const reading = ({ ref }: IngestSpec): Promise<VmReading> => harness.backend.require('diskSource').describe(ref);

  test('Windows gets the enlightenments of Hyper-V, and is still known when it leaves', async () => {
    const spec = await received({ os: 'win11', firmware: 'uefi-secure' });
    expect(manifest().metadata.annotations).toMatchObject({ 'svc.dev/guest-os': 'win11' });
    expect(manifest().spec.template.spec.domain).toMatchObject({
      features: { hyperv: { relaxed: {}, vapic: {}, spinlocks: { spinlocks: 8191 } }, smm: { enabled: true } },
      clock: { timer: { hyperv: {}, hpet: { present: false } } },
      firmware: { bootloader: { efi: { secureBoot: true } } },
    });
    expect((await reading(spec)).vm).toMatchObject({ os: 'win11', firmware: 'uefi-secure' });
  });

  test('Linux gets none, and its name goes along', async () => {
    const spec = await received({ os: 'debian12' });
    expect(manifest().spec.template.spec.domain).not.toHaveProperty('features.hyperv');
    expect((await reading(spec)).vm.os).toBe('debian12');
    const unknown = await received({});
    expect((await reading(unknown)).vm).not.toHaveProperty('os');
  });

  test('a Windows of other programs is known by its enlightenments', async () => {
    const spec = await received({ os: 'win10' });
    harness.sandbox.store.patch('virtualmachines.kubevirt.io', spec.ref, (vm: KubeObject) => {
      delete vm.metadata.annotations?.['svc.dev/guest-os'];
    });
    expect((await reading(spec)).vm.os).toBe('windows');
  });

  test.each([
    ['a TPM that keeps its state', { tpm: true }, { tpm: true, hasTpmState: true }],
    ['no TPM', {}, { tpm: false, hasTpmState: false }],
    [
      'variables that KubeVirt does not export',
      { tpm: true, firmware: 'uefi' } as const,
      { firmwareVariables: { problem: expect.stringContaining('does not export') } },
    ],
  ])('describes %s', async (_title, vm, expected) => {
    expect((await reading(await received(vm))).vm).toMatchObject(expected);
  });

  test('a firmware without storage has no variables to lose', async () => {
    const spec = await received({ firmware: 'uefi' });
    expect((await reading(spec)).vm).not.toHaveProperty('firmwareVariables');
  });
});
