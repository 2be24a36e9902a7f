import 'reflect-metadata';
import { DomainError } from '@headgate/domain-contracts';
import { ListenAddress } from '@headgate/nest-kit';
import { TaskBoard } from '@headgate/tasks';
import { pino } from 'pino';
import { claimDataDir } from '../../composition/claim-data-dir.js';
import { chooseContexts } from '../../composition/choose-contexts.js';
import { parseCommandLine } from '../../config/command-line.js';
import { loadSettings } from '../../config/load-config.js';
import { createService } from '../../create-app.js';

// replicas.spec.ts runs this in processes of its own, which it kills: the whole service, and a kind of task whose steps each create an object in the
// cluster.
//   replica-process CONFIG DATA_DIR API_SERVER LEASE_SECONDS
const [config = '', dataDir = '', apiServer = '', leaseSeconds = ''] = process.argv.slice(2);

const RETRY_MS = 200;
const STEPS = ['first', 'second', 'third', 'fourth'];
const CONFIG_MAPS = `${apiServer}/api/v1/namespaces/headgate/configmaps`;
const caller = { login: 'ann', name: 'Ann', admin: true };

const options = parseCommandLine(['--config', config, '--data-dir', dataDir, '--listen', '127.0.0.1:0', '--open']);
const loaded = loadSettings(options, {});
const settings = { ...loaded, store: { ...loaded.store, leaseSeconds: Number(leaseSeconds) } };
const log = pino({ level: process.env['LOG_LEVEL'] ?? 'error' }, pino.destination(2));

/** Creates another object each time, so that a step that runs twice leaves two. */
async function createEffect(task: string, step: string): Promise<void> {
  const response = await fetch(CONFIG_MAPS, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { generateName: 'effect-', labels: { task, step } },
    }),
  });
  if (response.status !== 201) throw new Error(await response.text());
}

async function hasEffect(task: string, step: string): Promise<boolean> {
  const selector = encodeURIComponent(`task=${task},step=${step}`);
  const response = await fetch(`${CONFIG_MAPS}?labelSelector=${selector}`);
  return ((await response.json()) as { items: unknown[] }).items.length > 0;
}

claimDataDir(dataDir);
const contexts = await chooseContexts({ options, settings, log });
const service = await createService({ settings, contexts, log, pageDir: dataDir });
const work = service.app.get(TaskBoard).define<{ round: number }>({
  kind: 'clone',
  steps: () =>
    STEPS.map((name) => ({
      ...{ name, stallMs: 60_000, waitsFor: 'the effect', ifStalled: 'It may still come.' },
      run: ({ task }) => createEffect(task, name),
    })),
  resume: async ({ task, steps }) => {
    const last = steps.at(-1);
    const isDone = last !== undefined && !last.isFinished && (await hasEffect(task, last.name));
    return isDone ? { action: 'finished' } : { action: 'continue' };
  },
});
await service.start();
/** Again while this replica does not reach the store, as a client would. Nothing has begun then. */
const startTask = (round: number): void =>
  void work.start({ name: `r${round}`, ref: '', input: { round } }, caller).catch((error: unknown) => {
    if (DomainError.is(error, 'NOT_READY')) setTimeout(() => startTask(round), RETRY_MS);
    else log.warn({ err: error }, 'the task was not started');
  });
process.on('message', ({ round }: { round: number }) => startTask(round));
// A replica ends with the test that started it.
process.on('disconnect', () => process.exit());
process.send?.({ url: ListenAddress.parse(settings.listen).urlOn(service.port()) });
