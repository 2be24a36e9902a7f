// Measures the adapter against the server's own time, on a private daemon with many containers. Started by
// tools/bench/incus.bench.mjs, which reads the figures from standard output. The arguments are
// `incus` or `lxd`, and the path of the image of the tiny container.
import { setTimeout as sleep } from 'node:timers/promises';
import { formatRef, isContainer, runConcurrently, type Instance, type InstanceRef } from '@headgate/domain-contracts';
import { PrivateIncusd, TINY_ALIAS, type IncusFlavor } from '@headgate/testing';
import { IncusHardware } from '../hardware/incus-hardware.js';
import { Restarts } from '../hardware/restarts.js';
import { IncusInventory } from '../inventory/incus-inventory.js';
import { IncusContainers } from '../provisioning/incus-containers.js';
import { connectTo } from '../testing/connect-to.js';

const CONTAINERS = 200;
const CONCURRENT = 4;
const ROUNDS = 9;
const LISTS = 15;
const IDLE_MS = 20_000;

type Kind = 'start' | 'scale';

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

async function time(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const [flavor, image] = process.argv.slice(2) as [IncusFlavor, string];
const daemon = await PrivateIncusd.start(flavor, { image });
const engine = connectTo(daemon);
const { api, finder, context } = engine;
const inventory = new IncusInventory(engine);
const containers = new IncusContainers(engine);
const hardware = new IncusHardware(engine, new Restarts(engine));
const refOf = (name: string): InstanceRef => ({ kind: 'ct', context, namespace: 'default', name });
const box = refOf('bench-0');

/** The time that changes took on the server, with the waits for its operations. */
let spent = 0;
let endedAt = 0;
const send = api.send.bind(api);
api.send = async (...args) => {
  const began = performance.now();
  try {
    return await send(...args);
  } finally {
    endedAt = performance.now();
    spent += endedAt - began;
  }
};

/** Resolves when the list has an instance that passes. */
let wanted: { readonly test: (instance: Instance) => boolean; readonly resolve: (at: number) => void } | undefined;
const listed = Promise.withResolvers<void>();
const check = (instance: Instance): void => {
  if (formatRef(instance.ref) === formatRef(box) && wanted?.test(instance)) wanted.resolve(performance.now());
};

async function measure(work: () => Promise<unknown>, test: (instance: Instance) => boolean) {
  const shown = Promise.withResolvers<number>();
  wanted = { test, resolve: shown.resolve };
  spent = 0;
  const took = await time(work);
  const theirs = spent;
  const ended = endedAt;
  return { theirs, own: took - theirs, shown: Math.max(0, (await shown.promise) - ended) };
}

const runs = (instance: Instance, is: boolean): boolean =>
  isContainer(instance) && (instance.phase === 'Running') === is;

try {
  const names = Array.from({ length: CONTAINERS }, (_none, index) => `bench-${index}`);
  await runConcurrently(names, CONCURRENT, async (name) => {
    await daemon.run('init', TINY_ALIAS, name);
  });
  const raw = (): Promise<unknown> => api.get('/1.0/instances', { recursion: 1, 'all-projects': 'true' });
  await raw();
  const lists: { theirs: number; ours: number }[] = [];
  for (let round = 0; round < LISTS; round++)
    lists.push({ theirs: await time(raw), ours: await time(() => finder.all()) });
  const firstList = await time(async () => {
    inventory.watch({
      listed: (all) => {
        if (all.length === CONTAINERS) listed.resolve();
      },
      changed: check,
      removed: () => undefined,
      lost: (error) => listed.reject(error),
    });
    await listed.promise;
  });
  const results: Record<Kind, Awaited<ReturnType<typeof measure>>[]> = { start: [], scale: [] };
  for (let round = 0; round < ROUNDS; round++) {
    results.start.push(
      await measure(
        () => containers.start(box),
        (one) => runs(one, true),
      ),
    );
    const memoryBytes = (256 + 2 * round) * 1024 ** 2;
    results.scale.push(
      await measure(
        () => hardware.apply(box, { kind: 'scale', memoryBytes, restart: false }),
        (one) => isContainer(one) && one.memoryBytes === memoryBytes,
      ),
    );
    await measure(
      () => containers.stop(box),
      (one) => runs(one, false),
    );
  }
  const changes: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const shown = Promise.withResolvers<number>();
    wanted = { test: ({ tags }) => tags.includes(`round-${round}`), resolve: shown.resolve };
    await daemon.run('config', 'set', box.name, `user.headgate.tag.round-${round}=true`);
    const doneAt = performance.now();
    changes.push(Math.max(0, (await shown.promise) - doneAt));
  }
  const before = process.cpuUsage();
  await sleep(IDLE_MS);
  const { user, system } = process.cpuUsage(before);
  const summary = (kind: Kind) => ({
    theirs: median(results[kind].map((one) => one.theirs)),
    own: median(results[kind].map((one) => one.own)),
    shown: median(results[kind].map((one) => one.shown)),
  });
  const figures = {
    containers: CONTAINERS,
    raw: median(lists.map(({ theirs }) => theirs)),
    list: median(lists.map(({ ours }) => ours)),
    firstList,
    start: summary('start'),
    scale: summary('scale'),
    foreign: median(changes),
    idlePercent: ((user + system) / 1000 / IDLE_MS) * 100,
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
} finally {
  await inventory.close();
  api.close();
  await daemon.close();
}
