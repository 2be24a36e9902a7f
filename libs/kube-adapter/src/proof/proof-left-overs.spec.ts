import { randomUUID } from 'node:crypto';
import { SystemClock, type BootSpec } from '@headgate/domain-contracts';
import type { KubeObject } from '@headgate/kube-sandbox';
import { FixedClock } from '@headgate/testing';
import { KubeApi } from '../api/kube-api.js';
import { KubeConnection } from '../api/kube-connection.js';
import { KubeCredentials } from '../api/kube-credentials.js';
import { LeftOvers } from '../left-overs/left-overs.js';
import { HurriedClock } from '../testing/faulty-cluster.contract.js';
import { NAMESPACE, SandboxHarness } from '../testing/sandbox-harness.contract.js';
import { Reachability } from '../watch/reachability.js';
import { versionProbe } from '../watch/version-probe.js';
import { ProofMachines } from './proof-machines.js';

const MIB = 1024 ** 2;
const VMS = 'virtualmachines.kubevirt.io';
const VMIS = 'virtualmachineinstances.kubevirt.io';
const DATA_VOLUMES = 'datavolumes.cdi.kubevirt.io';
const CLAIMS = 'persistentvolumeclaims';

describe('what a proof has left whose service was killed', () => {
  let harness: SandboxHarness;
  let machines: ProofMachines;
  let leftOvers: LeftOvers;

  beforeEach(async () => {
    harness = await SandboxHarness.open({ backend: { clock: new HurriedClock() } });
    const credentials = new KubeCredentials({ text: harness.sandbox.kubeconfig() }, undefined);
    const clock = new HurriedClock();
    const reachability = new Reachability(versionProbe(new KubeConnection('prod', credentials, clock)), clock);
    machines = new ProofMachines({ api: new KubeApi('prod', credentials, new SystemClock()), clock, reachability });
    leftOvers = new LeftOvers({
      objects: machines,
      clock: new FixedClock(),
      log: { info: () => undefined, warn: () => undefined },
      isServed: () => true,
      messages: { removed: 'removed', failed: 'failed' },
    });
  });
  afterEach(async () => {
    await leftOvers.close();
    await harness.close();
  });

  const { disks, vm }: Pick<BootSpec, 'disks' | 'vm'> = {
    disks: [
      { name: 'vda', sizeBytes: MIB, read: async () => Buffer.alloc(0) },
      { name: 'vdb', sizeBytes: MIB, read: async () => Buffer.alloc(0) },
    ],
    vm: {
      cpu: 1,
      memoryBytes: 256 * MIB,
      arch: 'x86_64',
      firmware: 'bios',
      tpm: false,
      autostart: false,
      tags: [],
      disks: ['vda', 'vdb'].map((name) => ({ name, sizeBytes: MIB, usedBytes: null, bus: 'virtio' })),
      nics: [],
    },
  };
  const specOf = (): BootSpec => ({ id: randomUUID(), disks, vm, timeLimitMs: 60_000 });
  const list = (resource: string): readonly KubeObject[] => harness.sandbox.store.list(resource);
  const names = (): string[] =>
    [VMS, VMIS, DATA_VOLUMES, CLAIMS]
      .flatMap(list)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined && !metadata.name?.startsWith('prime-'))
      .map(({ kind, metadata }) => `${kind}/${metadata.name}`)
      .sort();
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };
  /** A user's objects that resemble those of a proof. None of them may be removed. */
  const usersObjects = (id: string): void => {
    const vmOf = (name: string, metadata: object): void =>
      void harness.sandbox.store.create(VMS, {
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachine',
        metadata: { name, namespace: NAMESPACE, ...metadata },
        spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
      } as never);
    const other = randomUUID();
    const labels = { 'svc.dev/proof': id };
    const annotations = { 'svc.dev/proof-beat': '0' };
    vmOf(`headgate-proof-${other}`, {});
    vmOf(`headgate-proof-${randomUUID()}`, { labels: { 'svc.dev/proof': other }, annotations });
    vmOf('with-label', { labels });
    vmOf('with-label-and-annotation', { labels, annotations });
    vmOf('with-annotation', { annotations });
    const unlabeled = randomUUID();
    vmOf(`headgate-proof-${unlabeled}`, { labels: { 'svc.dev/proof': unlabeled } });
    harness.sandbox.store.create(DATA_VOLUMES, {
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataVolume',
      metadata: { name: `headgate-proof-${id}-disk9`, namespace: NAMESPACE, labels },
      spec: { source: { blank: {} }, storage: { resources: { requests: { storage: '1Mi' } } } },
    } as never);
  };

  /** What a service had done when it was killed. */
  const STEPS: readonly (readonly [string, (spec: BootSpec) => Promise<void>])[] = [
    ['created the VM', async (spec) => void (await machines.create(spec, NAMESPACE))],
    [
      'created the volumes',
      async (spec) => void (await machines.createVolumes(await machines.create(spec, NAMESPACE), spec, undefined)),
    ],
    [
      'started the guest',
      async (spec) => {
        const machine = await machines.create(spec, NAMESPACE);
        for (let index = 0; index < spec.disks.length; index++)
          harness.sandbox.store.create(DATA_VOLUMES, {
            apiVersion: 'cdi.kubevirt.io/v1beta1',
            kind: 'DataVolume',
            metadata: {
              name: `headgate-proof-${spec.id}-disk${index}`,
              namespace: NAMESPACE,
              labels: { 'svc.dev/proof': spec.id },
              annotations: { 'cdi.kubevirt.io/storage.bind.immediate.requested': 'true' },
              ownerReferences: [
                {
                  apiVersion: 'kubevirt.io/v1',
                  kind: 'VirtualMachine',
                  name: machine.metadata.name,
                  uid: machine.metadata.uid,
                },
              ],
            },
            spec: { source: { blank: {} }, storage: { resources: { requests: { storage: '1Mi' } } } },
          } as never);
        await machines.start(machine);
        await until(() =>
          list(VMIS).some((vmi) => (vmi as { status?: { phase?: string } }).status?.phase === 'Running'),
        );
      },
    ],
  ];

  test.each(STEPS)('is removed by its task after it %s, and nothing of the user', async (_name, step) => {
    const spec = specOf();
    usersObjects(spec.id);
    await until(() => list(CLAIMS).length > 0);
    const before = names();
    await step(spec);
    expect(names().length).toBeGreaterThan(before.length);
    await harness.backend.require('bootProof').discard(spec.id);
    expect(names()).toEqual(before);
    await harness.backend.require('bootProof').discard(spec.id);
    expect(names()).toEqual(before);
  });

  test.each(STEPS)('is removed at the second look after it %s, and nothing of the user', async (_name, step) => {
    const spec = specOf();
    usersObjects(spec.id);
    await until(() => list(CLAIMS).length > 0);
    const before = names();
    await step(spec);
    await leftOvers.sweep();
    const isLeft = (): boolean => names().some((name) => name === `VirtualMachine/headgate-proof-${spec.id}`);
    expect(isLeft()).toBe(true);
    // The cluster may have changed the VM since the list, which protects it until the next look.
    for (let look = 0; isLeft() && look < 20; look++) await leftOvers.sweep();
    await until(() => names().length === before.length);
    expect(names()).toEqual(before);
  });

  test('stays as long as another service keeps it alive', async () => {
    const machine = await machines.create(specOf(), NAMESPACE);
    for (let count = 1; count < 5; count++) {
      await leftOvers.sweep();
      await machines.beat(machine, count);
    }
    expect(names()).toContain(`VirtualMachine/${machine.metadata.name}`);
    await harness.backend.require('bootProof').discard(randomUUID());
    await harness.backend.require('bootProof').discard('svc.dev/proof');
    expect(names()).toContain(`VirtualMachine/${machine.metadata.name}`);
  });
});
