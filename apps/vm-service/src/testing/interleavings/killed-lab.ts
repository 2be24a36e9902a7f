import type { KubeObject, PacedClock } from '@headgate/kube-sandbox';
import type { OperationRequest } from '@headgate/testing';
import { ReplicaWorld } from '../replicas/replicas.js';
import { until } from '../replicas/until.js';
import type { ListEntry } from '../cluster-state.js';
import { RestoreObserver } from '../restore-observer.js';
import type { Answer } from './outcome.js';
import type { StoryLab } from './run-stories.js';
import { NAMESPACE } from './story-requests.js';
import type { StoryCluster } from './story-world.js';

const REPLICAS = 3;
/** Operations take a fifth of their usual time, and the time of the clusters is four times as fast as the real one. */
const TIME_SCALE = 0.2;
/** A changed size waits for a restart of the guest, so that no request waits for the cluster to apply it. */
const CLUSTER = { vmRolloutStrategy: 'Stage' } as const;
const LEASES = 'leases.coordination.k8s.io';
/** The annotation of a Lease with the name that a replica claims. */
const CLAIM = 'svc.dev/claim';
/** Between two looks at the number of requests: a story goes on in the middle of operations. */
const TURN_MS = 2;

type LeaseObject = KubeObject & { readonly spec?: { readonly holderIdentity?: string } };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Three processes of the service over one simulated cluster, which stories kill. Each caller has a process of its own.
 */
export class KilledLab implements StoryLab {
  readonly isKilled = true;
  readonly callers = Array.from({ length: REPLICAS }, (_none, index) => index);
  kills = 0;
  private names = 0;

  private constructor(
    private readonly world: ReplicaWorld,
    private readonly restores: RestoreObserver,
    /** Of the clusters. */
    readonly clock: PacedClock,
  ) {}

  static async open(): Promise<KilledLab> {
    const { PacedClock } = await import('@headgate/kube-sandbox');
    const clock = new PacedClock();
    const world = await ReplicaWorld.open({
      count: REPLICAS,
      program: 'service-process',
      contexts: ['lab', 'other'],
      clock,
      simulation: { timeScale: TIME_SCALE, cluster: CLUSTER },
    });
    return new KilledLab(world, new RestoreObserver(world.sandbox.store), clock);
  }

  async close(): Promise<void> {
    this.restores.close();
    await this.world.close();
    this.clock.stop();
  }

  get clusters(): readonly StoryCluster[] {
    return this.world.clusters.map(({ context, sandbox: { store } }) => ({ context, store }));
  }

  get restoreViolations(): readonly string[] {
    return this.restores.violations;
  }

  freshName(): string {
    return `k${(++this.names).toString().padStart(4, '0')}x`;
  }

  async givenVm(status: 'Running' | 'Stopped', name: string, context = 'lab'): Promise<void> {
    const size = { cpu: 1, memory: '256Mi', disk: '16Mi' };
    const cluster = this.world.clusters.find((one) => one.context === context);
    cluster?.simulation.seedVm({ name, namespace: NAMESPACE, status, ...size });
    const isListed = async (caller: number): Promise<boolean> => {
      const answer = await this.send(caller, { method: 'GET', path: '/api/vms' });
      return (answer?.json as unknown as ListEntry[]).some((entry) => entry.name === name && entry.context === context);
    };
    for (const caller of this.callers)
      await this.until(
        () => isListed(caller),
        () => `${name} is not listed by ${caller}`,
      );
  }

  /**
   * A client repeats what did not reach the service or was not begun, and reads that got no response. It does not
   * repeat a change without a response, because that may have been carried out.
   */
  async send(caller: number, { method, path, body }: OperationRequest): Promise<Answer> {
    const replica = this.world.replicas[caller]!;
    let answer: Answer;
    const isAnswered = async (): Promise<boolean> => {
      await replica.whenReady();
      answer = await replica.request(method, path, body ? { body } : {}).catch(() => undefined);
      if (!answer) return method !== 'GET';
      return answer.json['code'] !== 'NOT_READY';
    };
    await this.until(isAnswered, () => `${method} ${path} is answered with ${JSON.stringify(answer)}`);
    return answer;
  }

  until(holds: () => Promise<boolean>, explain: () => string): Promise<void> {
    return until(holds, explain);
  }

  readonly wait = async (turns: number): Promise<void> => {
    const { requests } = this.world.sandbox;
    const target = requests.total + turns;
    while (requests.total < target) await pause(TURN_MS);
  };

  readonly kill = async (process: number, turns: number): Promise<void> => {
    await this.wait(turns);
    this.kills++;
    await this.world.replicas[process]!.restart();
  };

  /**
   * Waits until no process claims the names of a story, although nothing goes on. Those of processes that are gone
   * count for nothing.
   */
  async rest(prefix: string): Promise<void> {
    const claims = (): string[] => {
      const living = this.world.replicas.map(({ id }) => id);
      return this.world.sandbox.store
        .list<LeaseObject>(LEASES, {})
        .filter(({ spec }) => living.includes(spec?.holderIdentity ?? ''))
        .flatMap(({ metadata }) => metadata.annotations?.[CLAIM] ?? [])
        .filter((claim) => claim.includes(prefix));
    };
    await this.until(
      async () => claims().length === 0,
      () => `${claims().join(', ')} is still claimed`,
    );
  }
}
