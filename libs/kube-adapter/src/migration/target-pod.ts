import type { KubeApi } from '../api/kube-api.js';
import { conditionOf, keyOf, type KubeObject } from '../api/kube-object.js';
import type { EventObject, MigrationObject, PodObject } from '../api/object-types.js';
import { EVENTS, PODS } from '../api/resources.js';
import { KindWatch, type WatchDeps } from '../watch/kind-watch.js';

/**
 * The phases in which the target pod may still have no node. With hot-plugged disks KubeVirt leaves Pending only after
 * that.
 */
const BEFORE_NODE = ['', 'Pending', 'Scheduling'];

export const mayLackNode = ({ status }: MigrationObject): boolean => BEFORE_NODE.includes(status?.phase ?? '');

/** Hot-plugged disks have pods with the first label, too. */
export const targetSelector = ({ metadata }: KubeObject): string =>
  `kubevirt.io/migrationJobUID=${metadata.uid},kubevirt.io=virt-launcher`;

/** Why no node can run a pod, as kube-scheduler reports it, or undefined. */
export function nodeProblem({ metadata, status }: PodObject): string | undefined {
  const scheduled = conditionOf(status?.conditions, 'PodScheduled');
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined;
  return `no node can run its target pod ${metadata.name}: ${readable(scheduled.message)}`;
}

/**
 * Without the end of the sentence, and without what the scheduler says about evicting other pods, which changes nothing
 * here.
 */
const readable = (message = 'the scheduler gave no reason'): string =>
  message.replace(/\.? (no new claims to deallocate, )?preemption: .*$/s, '').replace(/\.$/, '');

/** Follows the target pod of a migration while no node can run it. */
export class TargetPodWatch {
  /** Why the migration waits for a node, or did when its pod was last seen. */
  problem: string | undefined;
  private readonly known = new Set<string>();
  private readonly watch: KindWatch<PodObject>;

  /** @param onChange called with each new problem, and with undefined once there is none */
  constructor(
    deps: WatchDeps,
    migration: KubeObject,
    private readonly onChange: (problem: string | undefined) => void,
  ) {
    const sink = {
      upsert: (pod: PodObject) => {
        this.known.add(keyOf(pod));
        this.note(nodeProblem(pod));
      },
      // KubeVirt deletes the pod when it gives up: the problem is then the reason of the failure.
      remove: (key: string) => void this.known.delete(key),
      keys: () => this.known,
    };
    const { namespace } = migration.metadata;
    const labelSelector = targetSelector(migration);
    this.watch = new KindWatch<PodObject>({ ...deps, resource: PODS, namespace, labelSelector, sink }).start();
  }

  /** The pod has a node, which its migration may report first. */
  async end(): Promise<void> {
    this.note(undefined);
    await this.stop();
  }

  stop(): Promise<void> {
    return this.watch.stop();
  }

  private note(problem: string | undefined): void {
    if (problem === this.problem) return;
    this.problem = problem;
    this.onChange(problem);
  }
}

/** Why no node can run the target pod of a migration at this moment. */
export async function presentNodeProblem(api: KubeApi, migration: MigrationObject): Promise<string | undefined> {
  if (!mayLackNode(migration)) return undefined;
  const { namespace } = migration.metadata;
  const pods = await api.list<PodObject>(PODS, { namespace, labelSelector: targetSelector(migration) });
  return pods.map(nodeProblem).find((problem) => problem !== undefined);
}

/** Why a migration has failed, from events: its target pod is gone, and its status may have no reason. */
export async function pastProblem(api: KubeApi, { metadata }: KubeObject): Promise<string | undefined> {
  const { namespace, uid } = metadata;
  const about = (field: string, value: string | undefined): Promise<EventObject[]> =>
    api.list<EventObject>(EVENTS, { namespace, fieldSelector: `involvedObject.${field}=${value}` });
  const events = await about('uid', uid);
  const created = events.find(({ reason }) => reason === 'SuccessfulCreate');
  const pod = /target pod (\S+)$/.exec(created?.message ?? '')?.[1];
  const problem = pod === undefined ? undefined : schedulingProblem(pod, await about('name', pod));
  const failure = events.findLast(({ reason }) => reason === 'FailedMigration')?.message;
  return problem ?? failure?.replace(/^Migration failed because /, '');
}

/** Why no node could run a pod. */
function schedulingProblem(pod: string, events: readonly EventObject[]): string | undefined {
  if (events.some(({ reason }) => reason === 'Scheduled')) return undefined;
  const message = events.findLast(({ reason }) => reason === 'FailedScheduling')?.message;
  return message === undefined ? undefined : `no node could run its target pod ${pod}: ${readable(message)}`;
}
