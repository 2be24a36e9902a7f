import { randomUUID } from 'node:crypto';
import type { BootPlan, BootRequest, PortableVm } from '@headgate/domain-contracts';
import { RBAC_RULES } from '../rbac.js';
import { NAMESPACE, SandboxHarness, type SandboxHarnessOptions } from '../testing/sandbox-harness.contract.js';

const GIB = 1024 ** 3;
const TIB = 1024 * GIB;
const VM: PortableVm = {
  cpu: 1,
  memoryBytes: GIB,
  arch: 'x86_64',
  firmware: 'bios',
  tpm: false,
  autostart: true,
  tags: [],
  disks: [
    { name: 'vda', sizeBytes: 8 * GIB, usedBytes: null, bus: 'virtio' },
    { name: 'vdb', sizeBytes: 4 * GIB, usedBytes: null, bus: 'virtio' },
  ],
  nics: [],
};

describe('the plan of a proof in a cluster', () => {
  let harness: SandboxHarness | undefined;
  afterEach(async () => {
    await harness?.close();
    harness = undefined;
  });

  const plan = async (
    { options, vm, ...more }: Partial<BootRequest> & { readonly options?: SandboxHarnessOptions } = {},
    prepare: (opened: SandboxHarness) => void = () => undefined,
  ): Promise<BootPlan> => {
    harness = await SandboxHarness.open(options);
    prepare(harness);
    return harness.backend.require('bootProof').plan({ id: randomUUID(), vm: vm ?? VM, ...more });
  };
  const originIn = (namespace: string, context = 'prod') => ({ kind: 'vm', context, namespace, name: 'web' }) as const;
  const givenNamespace =
    (name: string) =>
    ({ sandbox }: SandboxHarness): void =>
      void sandbox.store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } as never);

  test('names the space, the storage class and the namespace, and changes nothing', async () => {
    const before: string[] = [];
    const objects = ({ sandbox }: SandboxHarness): string[] =>
      ['virtualmachines.kubevirt.io', 'datavolumes.cdi.kubevirt.io', 'namespaces'].flatMap((resource) =>
        sandbox.store.list(resource).map(({ metadata }) => metadata.name),
      );
    const { steps, warnings, refusals, readsAll } = await plan({ origin: originIn(NAMESPACE) }, (opened) =>
      before.push(...objects(opened)),
    );
    expect([refusals, readsAll]).toEqual([[], true]);
    expect(steps.map(({ detail }) => detail)).toEqual([
      `Copy all 12Gi of the disks into new volumes of the storage class ceph-block, in ${NAMESPACE}.`,
      expect.stringMatching(/^Boot the copies in prod without a network, as a VM of .* that is removed afterwards/),
    ]);
    expect(warnings).toEqual([expect.stringMatching(/^All 12Gi are copied first.* Quotas of tailvm count/)]);
    expect(harness && objects(harness)).toEqual(before);
  });

  test.each<[string, Partial<BootRequest>, SandboxHarnessOptions['backend'], string]>([
    ['that of the VM', { origin: originIn('team-a') }, {}, 'team-a'],
    ['that of new VMs, if the one of the VM is gone', { origin: originIn('gone') }, {}, NAMESPACE],
    ['that of new VMs, for a VM of another context', { origin: originIn('team-a', 'other') }, {}, NAMESPACE],
    ['that of new VMs, if its VM is unknown', {}, {}, NAMESPACE],
    ['that of new VMs, if the one of the VM is not watched', { origin: originIn('team-a') }, { namespaces: [NAMESPACE] }, NAMESPACE], // prettier-ignore
    ['the configured one', { origin: originIn(NAMESPACE) }, { proofNamespace: 'team-a' }, 'team-a'],
  ])('chooses as namespace %s', async (_name, request, backend, namespace) => {
    const { steps, refusals } = await plan({ ...request, options: { backend } }, givenNamespace('team-a'));
    expect(refusals).toEqual([]);
    expect(steps[0]?.detail).toMatch(new RegExp(`, in ${namespace}\\.$`));
  });

  test('refuses a namespace that does not exist, and creates none', async () => {
    const { refusals } = await plan({ options: { backend: { proofNamespace: 'team-b' } } });
    expect(refusals).toMatchObject([{ code: 'WRONG_STATE', reason: expect.stringContaining('team-b') }]);
    expect(harness?.sandbox.store.get('namespaces', { name: 'team-b' })).toBeUndefined();
  });

  test.each<[string, Partial<PortableVm>, string, RegExp]>([
    ['without disks', { disks: [] }, 'NOT_SUPPORTED', /0 disks/],
    ['with too many disks', { disks: Array.from({ length: 25 }, (_none, at) => ({ ...VM.disks[0]!, name: `d${at}` })) }, 'NOT_SUPPORTED', /25 disks/], // prettier-ignore
    ['for another architecture', { arch: 'aarch64' }, 'NOT_SUPPORTED', /is for aarch64/],
    ['for an unknown architecture', { arch: 'riscv128' }, 'NOT_SUPPORTED', /is for riscv128/],
    [
      'with more memory than a node',
      { memoryBytes: 64 * TIB },
      'WRONG_STATE',
      /largest node of prod has .* needs 64Ti/,
    ],
  ])('refuses a VM %s', async (_name, more, code, reason) => {
    const { refusals } = await plan({ vm: { ...VM, ...more } });
    expect(refusals).toEqual([{ code, reason: expect.stringMatching(reason), remedy: expect.any(String) }]);
  });

  test('refuses copies that no node has room for, where the storage reports its space', async () => {
    const options: SandboxHarnessOptions = { simulation: { cluster: { defaultStorageClass: 'topolvm' } } };
    const vm = { ...VM, disks: [{ ...VM.disks[0]!, sizeBytes: 900 * TIB }] };
    const { refusals } = await plan({ vm, options });
    expect(refusals).toMatchObject([
      { code: 'INSUFFICIENT_STORAGE', reason: expect.stringMatching(/^The copies need 900Ti, and the storage class/) },
    ]);
  });

  test('refuses an account that may not do a part of it, and names that', async () => {
    const rules = RBAC_RULES.map(({ resources, verbs, ...rule }) => ({
      ...rule,
      resources: resources.filter((one) => one !== 'uploadtokenrequests'),
      verbs: resources.includes('virtualmachines') ? verbs.filter((verb) => verb !== 'create') : verbs,
    })).filter(({ resources }) => resources.length > 0);
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'less' },
      rules,
    } as const;
    const { refusals } = await plan({
      options: {
        sandbox: {
          rbac: { less: ['less'] },
          extensions: [{ install: ({ store }) => void store.load([role as never]) }],
        },
        backend: { nodeScheduling: false },
        user: 'less',
      },
    });
    expect(refusals).toEqual([
      {
        code: 'BACKEND_FORBIDDEN',
        reason:
          'The account of prod may not create virtualmachines.kubevirt.io, create uploadtokenrequests.upload.cdi.kubevirt.io in tailvm.',
        remedy: expect.any(String),
      },
    ]);
  });

  test('refuses a cluster without a default storage class', async () => {
    const { refusals } = await plan({}, ({ sandbox }) => {
      for (const { metadata } of sandbox.store.list('storageclasses.storage.k8s.io'))
        sandbox.store.patch('storageclasses.storage.k8s.io', { name: metadata.name }, (draft) => {
          draft.metadata.annotations = {};
        });
    });
    expect(refusals).toMatchObject([{ code: 'NOT_SUPPORTED', reason: expect.stringMatching(/no default storage/) }]);
  });

  test('refuses a cluster without CDI, before and after its components are known', async () => {
    harness = await SandboxHarness.open({ simulation: { without: ['cdi'] } });
    const ability = harness.backend.ability('bootProof');
    if ('plan' in ability) {
      const { refusals } = await ability.plan({ id: randomUUID(), vm: VM });
      expect(refusals.map(({ reason }) => reason)).toContainEqual(expect.stringMatching(/^A proof copies the disks with CDI/)); // prettier-ignore
    }
    expect(() => harness?.backend.require('bootProof')).toThrow(/A proof copies the disks with CDI/);
  });

  test('says that the TPM and the variables of the firmware are new', async () => {
    const { warnings, refusals } = await plan({ vm: { ...VM, firmware: 'uefi-secure', tpm: true } });
    expect(refusals).toEqual([]);
    expect(warnings.slice(1)).toEqual([
      expect.stringMatching(/^The VM gets a new TPM/),
      expect.stringMatching(/^The firmware begins with new variables/),
    ]);
  });
});
