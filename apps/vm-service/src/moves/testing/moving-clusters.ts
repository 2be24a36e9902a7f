import { formatRef, SystemClock, type Backend, type InstanceRef } from '@headgate/domain-contracts';
import type { KubeObject, KubeSandbox } from '@headgate/kube-sandbox';
import { InventoryRecorder, recordingReporter } from '@headgate/testing';

const NAMESPACE = 'tailvm';
const MIB = 1024 ** 2;
/** The kinds whose objects may belong to a VM. */
const OWNABLE = ['virtualmachines.kubevirt.io', 'datavolumes.cdi.kubevirt.io', 'persistentvolumeclaims', 'secrets'];

const OPERATIONS = [
  'virtualmachinesnapshots.snapshot.kubevirt.io',
  'virtualmachinerestores.snapshot.kubevirt.io',
  'virtualmachineclones.clone.kubevirt.io',
  'virtualmachineinstancemigrations.kubevirt.io',
];

interface OperationObject extends KubeObject {
  readonly spec?: {
    readonly vmiName?: string;
    readonly target?: { readonly name: string };
    readonly source?: { readonly name: string };
  };
  readonly status?: { readonly phase?: string; readonly complete?: boolean };
}

type Context = 'alpha' | 'beta';

/** Two simulated clusters that survive the processes under test. */
export class MovingClusters {
  private constructor(
    private readonly sandboxes: Readonly<Record<Context, KubeSandbox>>,
    private readonly alpha: Backend & { close(): Promise<void> },
    private readonly recorder: InventoryRecorder,
  ) {}

  static async open(): Promise<MovingClusters> {
    const [{ KubeBackend }, { KubeSandbox }, { KubevirtSimulation }] = await Promise.all([
      import('@headgate/kube-adapter'),
      import('@headgate/kube-sandbox'),
      import('@headgate/kubevirt-sandbox'),
    ]);
    const listen = () => KubeSandbox.listen({ extensions: [new KubevirtSimulation({ timeScale: 0 })] });
    const sandboxes = { alpha: await listen(), beta: await listen() };
    const alpha = KubeBackend.open({
      context: 'alpha',
      kubeconfig: { text: sandboxes.alpha.kubeconfig() },
      clock: new SystemClock(),
    });
    const recorder = InventoryRecorder.over(alpha.require('inventory'));
    await recorder.whenListed();
    return new MovingClusters(sandboxes, alpha, recorder);
  }

  get kubeconfigs(): Record<Context, string> {
    return { alpha: this.sandboxes.alpha.kubeconfig(), beta: this.sandboxes.beta.kubeconfig() };
  }

  /** @returns its ref */
  async givenRunningVm(name: string): Promise<string> {
    const ref: InstanceRef = { kind: 'vm', context: 'alpha', namespace: NAMESPACE, name };
    const source = { kind: 'import', url: 'https://images.example/fedora.qcow2' } as const;
    const size = { cpu: 1, memoryBytes: 256 * MIB, diskBytes: 4 * MIB };
    const { remaining } = await this.alpha.require('provisioning').create({ ref, source, ...size, start: true });
    await remaining?.(recordingReporter());
    await this.recorder.untilVm(ref, ({ status }) => status === 'Running');
    return formatRef(ref);
  }

  /** A running VM on one of the two nodes with the same CPU vendor; the third node has another vendor. */
  async givenMigratable(name: string): Promise<string> {
    const ref = await this.givenRunningVm(name);
    await this.recorder.untilVm(this.refOf(name), ({ liveMigratable }) => liveMigratable);
    return this.nodeOf(name) === 'node-c' ? this.givenMigratable(`${name}b`) : ref;
  }

  async untilRunning(vm: string): Promise<void> {
    await this.recorder.untilVm(this.refOf(vm), ({ status }) => status === 'Running');
  }

  async givenSnapshot(vm: string, name: string): Promise<void> {
    const { remaining } = await this.alpha.require('snapshots').create(this.refOf(vm), { name });
    await remaining?.(recordingReporter());
  }

  async givenStopped(vm: string): Promise<void> {
    await this.alpha.require('power').apply(this.refOf(vm), 'stop', { force: true });
    await this.recorder.untilVm(this.refOf(vm), ({ status }) => status === 'Stopped');
  }

  /** The node on which the guest runs in `alpha`. */
  nodeOf(vm: string): string | undefined {
    const { store } = this.sandboxes.alpha;
    const vmi = store.get('virtualmachineinstances.kubevirt.io', { namespace: NAMESPACE, name: vm });
    return (vmi as { status?: { nodeName?: string } } | undefined)?.status?.nodeName;
  }

  /** The objects of operations on a VM in `alpha`: `kind/name state`. Without those that a clone owns. */
  operationsOf(vm: string): string[] {
    const { store } = this.sandboxes.alpha;
    return OPERATIONS.flatMap((resource) => store.list<OperationObject>(resource, { namespace: NAMESPACE }))
      .filter(({ metadata, spec = {} }) => {
        const subject = spec.vmiName ?? spec.target?.name ?? spec.source?.name;
        return metadata.ownerReferences?.some(({ controller }) => controller) !== true && [vm, `${vm}-copy`].includes(subject ?? ''); // prettier-ignore
      })
      .map(({ kind, metadata, status }) => `${kind}/${metadata.name} ${status?.phase ?? status?.complete}`)
      .sort();
  }

  private refOf(name: string): InstanceRef {
    return { kind: 'vm', context: 'alpha', namespace: NAMESPACE, name };
  }

  /** The status of a VM, and the objects that belong to it: `kind/name`. */
  stateOf(context: Context, name: string): { status: string; objects: string[] } {
    const { store } = this.sandboxes[context];
    const objects = OWNABLE.flatMap((resource) => store.list<KubeObject>(resource, { namespace: NAMESPACE })).filter(
      ({ metadata }) => metadata.name === name || metadata.name?.startsWith(`${name}-`),
    );
    const vm = objects.find(({ kind }) => kind === 'VirtualMachine') as
      (KubeObject & { status?: { printableStatus?: string } }) | undefined;
    return {
      status: vm?.status?.printableStatus ?? 'absent',
      objects: objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort(),
    };
  }

  async close(): Promise<void> {
    await this.recorder.stop();
    await this.alpha.close();
    await Promise.all(Object.values(this.sandboxes).map((sandbox) => sandbox.close()));
  }
}
