import { ADMINISTRATOR, DomainError } from '@headgate/domain-contracts';
import { TaskBoard } from '@headgate/tasks';
import { runReplica, type PreparedReplica } from './replica-service.js';

// replicas.stress.spec.ts runs this in processes of its own, which it kills: the whole service, and a kind of task
// whose steps each create an object in the cluster.
const RETRY_MS = 200;
const STEPS = ['first', 'second', 'third', 'fourth'];
const caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };

/** Tasks whose steps leave two objects if they run twice. The service itself defines no tasks of their kind. */
function defineWork({ service, apiServer, log }: PreparedReplica): void {
  const configMaps = `${apiServer}/api/v1/namespaces/headgate/configmaps`;
  const createEffect = async (task: string, step: string): Promise<void> => {
    const response = await fetch(configMaps, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { generateName: 'effect-', labels: { task, step } },
      }),
    });
    if (response.status !== 201) throw new Error(await response.text());
  };
  const hasEffect = async (task: string, step: string): Promise<boolean> => {
    const selector = encodeURIComponent(`task=${task},step=${step}`);
    const response = await fetch(`${configMaps}?labelSelector=${selector}`);
    return ((await response.json()) as { items: unknown[] }).items.length > 0;
  };
  const work = service.app.get(TaskBoard).define<{ round: number }>({
    kind: 'create',
    steps: () =>
      STEPS.map((name) => ({
        name,
        stallMs: 60_000,
        waitsFor: 'the effect',
        ifStalled: 'It may still come.',
        run: ({ task }) => createEffect(task, name),
      })),
    resume: async ({ task, steps }) => {
      const last = steps.at(-1);
      const isDone = last !== undefined && !last.isFinished && (await hasEffect(task, last.name));
      return isDone ? { action: 'finished' } : { action: 'continue' };
    },
  });
  /** Again while this replica does not reach the store, as a client would. Nothing has begun then. */
  const startTask = (round: number): void =>
    void work.start({ name: `r${round}`, ref: '', input: { round } }, caller).catch((error: unknown) => {
      if (DomainError.is(error, 'NOT_READY')) setTimeout(() => startTask(round), RETRY_MS);
      else log.warn({ err: error }, 'the task was not started');
    });
  process.on('message', ({ round }: { round: number }) => startTask(round));
}

await runReplica(defineWork);
