import { SystemClock, type Backend } from '@headgate/domain-contracts';
import type { KubeSandbox, ManualClock } from '@headgate/kube-sandbox';
import type { KubevirtSimulation, VmSeed } from '@headgate/kubevirt-sandbox';
import { TestService } from '../../testing/test-service.js';

/** How far the cluster's time advances in each turn of the event loop. */
const STEP_MS = 100;
const SETTLE_STEP_MS = 500;
/** Four minutes. */
const SETTLE_STEPS = 480;
const PATIENCE_MS = 60_000;
export const NAMESPACE = 'tailvm';

/** An entry of the list of VMs. */
export interface Entry {
  readonly name: string;
  readonly status: string;
  readonly node?: string;
  readonly cpu: number;
  readonly mem: string;
  readonly tags: readonly string[];
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const refOf = (name: string): string => `vm/lab/${NAMESPACE}/${name}`;

/** The whole service over one simulated cluster, which takes the place of a real one. Its time passes in `settle`. */
export class TwinLab extends TestService {
  private constructor(
    readonly clock: ManualClock,
    readonly sandbox: KubeSandbox,
    readonly simulation: KubevirtSimulation,
    private readonly backend: Backend & { close(): Promise<void> },
  ) {
    super();
  }

  /** @param user of the cluster, whose rights are enforced; without one, the administrator */
  static async create(
    vms: readonly VmSeed[],
    { user, roles = [] }: { readonly user?: string; readonly roles?: readonly string[] } = {},
    prepare: (sandbox: KubeSandbox) => void = () => undefined,
  ): Promise<TwinLab> {
    const [{ KubeBackend }, { KubeSandbox, ManualClock }, { KubevirtSimulation }] = await Promise.all([
      import('@headgate/kube-adapter'),
      import('@headgate/kube-sandbox'),
      import('@headgate/kubevirt-sandbox'),
    ]);
    const clock = new ManualClock();
    const node = (name: string) => ({ name, cpus: 32, memory: '128Gi' });
    const simulation = new KubevirtSimulation({
      cluster: { nodes: ['a', 'b', 'c', 'd'].map((id) => node(`node-${id}`)) },
    });
    const rbac = user === undefined ? {} : { rbac: { [user]: [...roles] } };
    const sandbox = await KubeSandbox.listen({ clock, extensions: [simulation], ...rbac });
    prepare(sandbox);
    simulation.seedVm(...vms.map((vm) => ({ namespace: NAMESPACE, ...vm })));
    clock.advance(60_000);
    const kubeconfig = { text: sandbox.kubeconfig(user) };
    const backend = KubeBackend.open({ context: 'lab', kubeconfig, clock: new SystemClock() });
    const lab = new TwinLab(clock, sandbox, simulation, backend);
    await lab.open();
    await lab.until(async () => (await lab.list()).size === vms.length, 'all VMs are listed');
    return lab;
  }

  protected override backends(): readonly Backend[] {
    return [this.backend];
  }

  async list(): Promise<ReadonlyMap<string, Entry>> {
    const { status, json } = await this.send('GET', '/api/vms');
    const entries = status === 200 ? (json as unknown as Entry[]) : [];
    return new Map(entries.map((entry) => [entry.name, entry]));
  }

  /** Lets time pass in the cluster until the work has ended. */
  async during<T>(work: Promise<T>): Promise<T> {
    let hasEnded = false;
    const ended = work.finally(() => (hasEnded = true));
    ended.catch(() => undefined);
    while (!hasEnded) await this.step(STEP_MS);
    return ended;
  }

  /** Lets time pass in the cluster until all tasks have ended, and then for some minutes. */
  async settle(): Promise<void> {
    const isAtRest = async (): Promise<boolean> =>
      ((await this.send('GET', '/api/tasks')).json as unknown as { status: string }[]).every(
        ({ status }) => status !== 'running',
      );
    await this.until(isAtRest, 'all tasks have ended');
    for (let step = 0; step < SETTLE_STEPS; step++) await this.step(SETTLE_STEP_MS);
    await this.until(isAtRest, 'all tasks have ended');
  }

  async until(holds: () => Promise<boolean>, text: string): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (!(await holds())) {
      if (performance.now() > end) throw new Error(`It did not happen that ${text}.`);
      await this.step(STEP_MS);
    }
  }

  override async close(): Promise<void> {
    await super.close();
    await this.backend.close();
    await this.sandbox.close();
  }

  private async step(ms: number): Promise<void> {
    this.clock.advance(ms);
    await turn();
  }
}
