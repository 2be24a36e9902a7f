import { SystemClock, type Backend, type TwinObjects } from '@headgate/domain-contracts';
import type { KubeObject, KubeSandbox, ManualClock } from '@headgate/kube-sandbox';
import type { KubevirtSimulation, OptionalPart, VmEvent } from '@headgate/kubevirt-sandbox';

export type { VmEvent };

/** How long the process may be busy with a twin before other work gets a turn. */
const TURN_MS = 8;
/** Kinds whose changes say nothing about the work of the cluster. */
const RESTLESS: ReadonlySet<string> = new Set(['events', 'leases.coordination.k8s.io']);

/** The components of a cluster, by a kind that it does not serve without them. */
const PARTS: readonly (readonly [kind: string, part: OptionalPart])[] = [
  ['DataVolume', 'cdi'],
  ['VolumeSnapshotClass', 'snapshots'],
  ['NetworkAttachmentDefinition', 'multus'],
];

export interface TwinClusterOptions {
  /** The name of the context, so that its instances have the same refs. */
  readonly context: string;
  readonly found: TwinObjects;
  readonly signal: AbortSignal;
}

/** A simulated cluster with the objects of a real one, whose time passes only in `advance`. */
export class TwinCluster {
  /** Counts the changes of objects. */
  changes = 0;
  private readonly unsubscribe: () => void;

  private constructor(
    /** Our adapter, connected to the simulation. */
    readonly backend: Backend,
    /** One sentence for each thing that was left out or invented. */
    readonly notes: readonly string[],
    /** The number of objects. */
    readonly objects: number,
    private readonly simulation: KubevirtSimulation,
    private readonly sandbox: KubeSandbox,
    private readonly clock: ManualClock,
  ) {
    this.unsubscribe = sandbox.store.subscribe('*', ({ resource }) => {
      if (!RESTLESS.has(resource)) this.changes++;
    });
  }

  /** Loads the simulation, which a service without twins never does. @throws the reason of the signal */
  static async open({ context, found, signal }: TwinClusterOptions): Promise<TwinCluster> {
    const [{ KubeBackend }, { KubeSandbox, ManualClock }, { KubevirtSimulation, nearestRelease }] = await Promise.all([
      import('@headgate/kube-adapter'),
      import('@headgate/kube-sandbox'),
      import('@headgate/kubevirt-sandbox'),
    ]);
    const clock = new ManualClock(found.readAt);
    const release = nearestRelease(found.version ?? '');
    const simulation = new KubevirtSimulation({
      cluster: false,
      without: PARTS.filter(([kind]) => found.notServed.includes(kind)).map(([, part]) => part),
      ...(release !== undefined && { kubevirtVersion: release }),
    });
    // Other users of this machine may connect to its port: without the token, they have no rights.
    const sandbox = await KubeSandbox.listen({ clock, extensions: [simulation], rbac: true });
    try {
      const parts = simulation.importCluster(found.objects as unknown as readonly KubeObject[], {
        inventsNodes: found.hasNoNodes,
      });
      const { notes, objects } = await inTurns(parts, signal);
      const isOther = release !== undefined && !`${found.version?.replace(/^v/, '')}.`.startsWith(`${release}.`);
      const versionNote = isOther || release === undefined ? [releaseNote(found.version, simulation)] : [];
      const kubeconfig = { text: sandbox.kubeconfig() };
      const backend = KubeBackend.open({ context, kubeconfig, clock: new SystemClock(), nodeScheduling: true });
      return new TwinCluster(backend, [...versionNote, ...notes], objects, simulation, sandbox, clock);
    } catch (error) {
      await sandbox.close();
      throw error;
    }
  }

  /** The simulated time in milliseconds since the epoch. */
  now(): number {
    return this.clock.now();
  }

  /** Reports new events about VMs until the returned function is called. */
  followEvents(listener: (event: VmEvent) => void): () => void {
    return this.simulation.followVmEvents(listener);
  }

  /** Lets simulated time pass. The process does other work meanwhile. @throws the reason of the signal */
  async advance(ms: number, signal: AbortSignal): Promise<void> {
    let began = performance.now();
    for (const callback of this.clock.steps(ms)) {
      callback();
      if (performance.now() - began < TURN_MS) continue;
      await turn();
      signal.throwIfAborted();
      began = performance.now();
    }
  }

  async close(): Promise<void> {
    this.unsubscribe();
    await this.backend.close();
    await this.sandbox.close();
    this.clock.stop();
  }
}

/** A turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function inTurns<T>(parts: Generator<void, T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
    await turn();
    signal.throwIfAborted();
  }
}

const releaseNote = (version: string | undefined, { context: { release } }: KubevirtSimulation): string =>
  version === undefined
    ? `The release of KubeVirt is not known; ${release.tag} is simulated.`
    : `KubeVirt ${version} is not simulated; ${release.tag} is, whose behavior may differ.`;
