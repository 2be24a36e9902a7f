import type { Task } from '@headgate/domain-contracts';
import type { OperationRequest } from '@headgate/testing';
import { clusterState, type ListEntry } from '../cluster-state.js';
import type { Answer } from './outcome.js';

export interface StoryCluster {
  readonly context: string;
  readonly store: Parameters<typeof clusterState>[0];
}

/** The service under test, and the clusters that it manages. */
export interface StoryWorld {
  /** The first one has the VMs of the stories. */
  readonly clusters: readonly StoryCluster[];
  /** The callers that use different processes of the service. */
  readonly callers: readonly number[];
  /** Whether processes are killed, so that requests may get no response. */
  readonly isKilled: boolean;
  send(caller: number, request: OperationRequest): Promise<Answer>;
  /** Waits until the condition holds. @throws Error with the explanation when that takes far too long */
  until(holds: () => Promise<boolean>, explain: () => string): Promise<void>;
}

export const stateIn = ({ store, context }: StoryCluster, prefix: string) => clusterState(store, prefix, context);

/**
 * Waits until every task about the names has ended, and the lists of all processes agree with the clusters.
 * @throws Error with the tasks and the differences
 */
export async function settle(world: StoryWorld, prefix: string): Promise<void> {
  let unrest: string[] = [];
  const isAtRest = async (): Promise<boolean> => {
    const seen = await Promise.all(world.callers.map((caller) => unrestSeenBy(world, caller, prefix)));
    unrest = seen.flat();
    return unrest.length === 0;
  };
  await world.until(isAtRest, () => `${prefix} is not at rest: ${unrest.join(', ')}`);
}

async function unrestSeenBy(world: StoryWorld, caller: number, prefix: string): Promise<string[]> {
  const [list, tasks] = await Promise.all([
    world.send(caller, { method: 'GET', path: '/api/vms' }),
    world.send(caller, { method: 'GET', path: '/api/tasks' }),
  ]);
  if (list?.status !== 200 || tasks?.status !== 200) return ['the service does not answer'];
  const entries = list.json as unknown as ListEntry[];
  const running = (tasks.json as unknown as Task[]).filter(
    ({ status, ref }) => status === 'running' && ref.includes(prefix),
  );
  const found = [
    ...running.map(({ id }) => `${id} runs`),
    ...world.clusters.flatMap((cluster) =>
      stateIn(cluster, prefix).differences(entries.filter(({ context }) => context === cluster.context)),
    ),
  ];
  return found.map((text) => `${text}, seen by ${caller}`);
}

/** A task as a process shows it, which may know it a moment later than the others. @throws Error when it is unknown */
export async function taskSeenBy(world: StoryWorld, caller: number, id: string): Promise<Task> {
  let answer: Answer;
  await world.until(
    async () => (answer = await world.send(caller, { method: 'GET', path: `/api/tasks/${id}` }))?.status === 200,
    () => `the task ${id} is unknown to ${caller}: ${JSON.stringify(answer)}`,
  );
  return answer!.json as unknown as Task;
}

/** Deletes the VMs, and waits until none of their objects is left. @throws Error with those that are left over */
export async function removeAll(world: StoryWorld, prefix: string): Promise<void> {
  const left = (): string[] =>
    world.clusters.flatMap((cluster) =>
      stateIn(cluster, prefix).objects.map(({ kind, metadata }) => `${cluster.context} ${kind}/${metadata.name}`),
    );
  const removeVms = async (): Promise<boolean> => {
    for (const cluster of world.clusters)
      for (const { metadata } of stateIn(cluster, prefix).machines) {
        const path = `/api/vms/${metadata.namespace}/${metadata.name}?context=${cluster.context}`;
        await world.send(0, { method: 'DELETE', path });
      }
    return left().length === 0;
  };
  await world.until(removeVms, () => `left over: ${left().join(', ')}`);
}
