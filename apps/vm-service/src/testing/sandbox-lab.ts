import { SystemClock, type Backend } from '@headgate/domain-contracts';
import type { KubeObject, KubeSandbox, ManualClock } from '@headgate/kube-sandbox';
import type { KubevirtSimulation, SimulationOptions } from '@headgate/kubevirt-sandbox';
import type { MeetingVm } from '@headgate/testing';
import { clusterState, entryOf, objectsByName, type ListEntry } from './cluster-state.js';
import { RestoreObserver } from './restore-observer.js';
import { TestService } from './test-service.js';

const NAMESPACE = 'tailvm';
/** How far the clusters' time advances in each turn of the event loop. */
const STEP_MS = 100;
/** Minutes of the clusters pass while a real socket is opened, so that CDI's five are over before the first byte. */
const UPLOAD_TOKEN_MS = 24 * 60 * 60_000;
const DISK = '16Mi';
/** A changed size waits for a restart of the guest, so that no request waits for the cluster to apply it. */
const CLUSTER = { vmRolloutStrategy: 'Stage' } as const;
const STORAGE_CLASSES = 'storageclasses.storage.k8s.io';

interface Cluster {
  readonly sandbox: KubeSandbox;
  readonly simulation: KubevirtSimulation;
  readonly backend: Backend & { close(): Promise<void> };
}

export interface SandboxLabOptions {
  /** Factor on the durations in the clusters. */
  readonly timeScale?: number;
  /** What differs in the configuration of both clusters. */
  readonly cluster?: Exclude<SimulationOptions['cluster'], false>;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The whole service over two simulated clusters, `lab` and `other`, whose time passes only while a test lets it. */
export class SandboxLab extends TestService {
  private readonly restores: RestoreObserver;
  private isRunning = false;
  private names = 0;
  private pumping: Promise<void> = Promise.resolve();

  private constructor(
    readonly clock: ManualClock,
    readonly lab: Cluster,
    readonly other: Cluster,
  ) {
    super();
    this.restores = new RestoreObserver(lab.sandbox.store);
  }

  /** Restores in the cluster `lab` during which their VM ran. */
  get restoreViolations(): readonly string[] {
    return this.restores.violations;
  }

  static async create({ timeScale = 1, cluster }: SandboxLabOptions = {}): Promise<SandboxLab> {
    const [{ KubeBackend }, { KubeSandbox, ManualClock }, { KubevirtSimulation }] = await Promise.all([
      import('@headgate/kube-adapter'),
      import('@headgate/kube-sandbox'),
      import('@headgate/kubevirt-sandbox'),
    ]);
    const clock = new ManualClock();
    const openCluster = async (context: string): Promise<Cluster> => {
      const simulation = new KubevirtSimulation({
        timeScale,
        cluster: { ...CLUSTER, ...cluster },
        uploadTokenMs: UPLOAD_TOKEN_MS,
      });
      const sandbox = await KubeSandbox.listen({ clock, extensions: [simulation] });
      const shared = sandbox.store.get(STORAGE_CLASSES, { name: 'ceph-block' }) as object;
      sandbox.store.create(STORAGE_CLASSES, { ...shared, metadata: { name: 'ceph-fast' } } as never);
      clock.advance(1000);
      const kubeconfig = { text: sandbox.kubeconfig() };
      return { sandbox, simulation, backend: KubeBackend.open({ context, kubeconfig, clock: new SystemClock() }) };
    };
    return new SandboxLab(clock, await openCluster('lab'), await openCluster('other'));
  }

  protected override backends(): readonly Backend[] {
    return [this.lab.backend, this.other.backend];
  }

  /** Lets the time in the clusters pass. */
  run(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    this.pumping = this.pump();
  }

  /** Stops the time in the clusters: work there does not end. */
  hold(): void {
    this.isRunning = false;
  }

  /** A name that no other object contains. */
  freshName(): string {
    return `m${(++this.names).toString().padStart(4, '0')}x`;
  }

  /** A VM in the cluster `lab`, which the service has listed. */
  async givenVm(status: 'Running' | 'Stopped', name = this.freshName()): Promise<MeetingVm> {
    const vm = this.seedVm(status, name);
    await this.until(async () => (await this.entry(name)) !== undefined, `${name} is listed`);
    return vm;
  }

  /** A VM in the cluster `lab`, which the service will list. */
  seedVm(status: 'Running' | 'Stopped', name = this.freshName()): MeetingVm {
    this.lab.simulation.seedVm({ name, namespace: NAMESPACE, status, cpu: 1, memory: '256Mi', disk: DISK });
    return vmNamed(name);
  }

  async list(): Promise<readonly ListEntry[]> {
    const { status, json } = await this.send('GET', '/api/vms');
    // Until the clusters are listed, there is no list.
    return status === 200 ? (json as unknown as ListEntry[]) : [];
  }

  async entry(name: string, context = 'lab'): Promise<ListEntry | undefined> {
    return entryOf(await this.list(), context, name);
  }

  /** Lets the clusters work until every task about the names has ended, and the entries agree with the clusters. */
  async settle(name: string): Promise<void> {
    this.run();
    let unrest: readonly string[] = [];
    await this.until(
      async () => {
        unrest = await this.unrestOf([name]);
        return unrest.length === 0;
      },
      `${name} is at rest`,
      () => unrest,
    );
  }

  /** The tasks that run, and how the list differs from the clusters. */
  async unrestOf(names: readonly string[]): Promise<string[]> {
    const list = await this.list();
    const tasks = (await this.send('GET', '/api/tasks')).json as unknown as {
      id: string;
      ref: string;
      status: string;
    }[];
    const isMeant = ({ ref, status }: { ref: string; status: string }): boolean =>
      status === 'running' && names.some((name) => ref.includes(name));
    return [
      ...tasks.filter(isMeant).map(({ id }) => `${id} runs`),
      ...this.contexts().flatMap(([context, { sandbox }]) => {
        const entries = list.filter((one) => one.context === context);
        return [...objectsByName(sandbox.store, names)].flatMap(([name, objects]) =>
          clusterState(sandbox.store, name, context, objects).differences(entries),
        );
      }),
    ];
  }

  /** All namespaced objects of both clusters that name one of the VMs, except events. */
  objectsOf(...names: readonly string[]): string[] {
    return this.contexts().flatMap(([context, { sandbox }]) =>
      [...objectsByName(sandbox.store, names).values()]
        .flat()
        .map(({ kind, metadata }: KubeObject) => `${context} ${kind}/${metadata.name}`),
    );
  }

  /** Deletes all VMs of the name and its copies, and waits until none of their objects is left. */
  async remove(name: string): Promise<void> {
    await this.removeOnly(name);
    await this.settle(name);
    await this.until(
      async () => this.objectsOf(name).length === 0,
      `nothing of ${name} is left`,
      () => this.objectsOf(name),
    );
  }

  /** Deletes all VMs of the name and its copies. */
  async removeOnly(name: string): Promise<void> {
    for (const entry of (await this.send('GET', '/api/vms')).json as unknown as ListEntry[]) {
      if (!entry.name.startsWith(name)) continue;
      const { status, body } = await this.send(
        'DELETE',
        `/api/vms/${entry.namespace}/${entry.name}?context=${entry.context}`,
      );
      if (status !== 200) throw new Error(`${entry.name} was not deleted: ${body}`);
    }
  }

  async until(holds: () => Promise<boolean>, text: string, explain = (): readonly string[] => []): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (!(await holds())) {
      if (performance.now() > end) throw new Error(`It did not happen that ${text}. ${explain().join(', ')}`);
      await turn();
    }
  }

  override async close(): Promise<void> {
    this.hold();
    await this.pumping;
    await super.close();
    this.restores.close();
    for (const [, { backend, sandbox }] of this.contexts()) {
      await backend.close();
      await sandbox.close();
    }
  }

  private contexts(): readonly (readonly [string, Cluster])[] {
    return [
      ['lab', this.lab],
      ['other', this.other],
    ];
  }

  private async pump(): Promise<void> {
    while (this.isRunning) {
      this.clock.advance(STEP_MS);
      await turn();
    }
  }
}

/** Far more than any task needs; nothing waits this long unless it fails. */
const PATIENCE_MS = 120_000;

const vmNamed = (name: string): MeetingVm => ({
  context: 'lab',
  namespace: NAMESPACE,
  name,
  bootDevice: 'root',
  bootVolume: `${name}-root`,
  disk: '',
  expandTo: '32Mi',
  network: 'br1',
  storage: 'ceph-fast',
  moveTo: { kind: 'kubevirt', context: 'other' },
});
