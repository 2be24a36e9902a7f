import type { Task } from '@headgate/domain-contracts';
import { describeOnRealApiServer } from '@headgate/testing';
import { openRealStore } from './real-store.contract.js';
import type { Replica } from './replica.js';
import { ReplicaWorld } from './replicas.js';
import { until } from './until.js';

const REPLICAS = 3;
/** `npm run test:replicas -- --rounds 100` kills the replicas in turn for longer. */
const ROUNDS = Number(process.env['HEADGATE_TEST_REPLICA_ROUNDS'] ?? 3);
const SEED = Number(process.env['HEADGATE_TEST_REPLICA_SEED'] ?? 1);
/** `simulated` or `real`: only with that store. */
const STORE = process.env['HEADGATE_TEST_REPLICA_STORE'];
const ROUND_MS = 180_000;
/** Longer runs report how far they are after this many rounds. */
const REPORTED_ROUNDS = 10;
const INSTANCES = 30;
const MEMBERS = 12;
const VMS = 'virtualmachines.kubevirt.io';
/** How late the response to a request comes that a replica sends before it is suspended. Longer than its lease. */
const SUSPENDED_MS = 6_000;
/** How often the time until another replica knows a token is measured. */
const MEASURED_TOKENS = 20;
const STEPS = ['first', 'second', 'third', 'fourth'];

interface Folders {
  readonly folders: readonly { readonly path: string; readonly members: readonly { readonly ref: string }[] }[];
}

/** Mulberry32: the moments of the kills can be repeated. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Store {
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** @param maxRequests of a round, after which a replica is killed at the latest. A round has more requests than that */
function suite(maxRequests: number, openStore: () => Promise<Store | undefined>): void {
  let world: ReplicaWorld;
  let store: Store | undefined;
  let refs: string[];

  beforeAll(async () => {
    store = await openStore();
    world = await ReplicaWorld.open({
      count: REPLICAS,
      program: 'replica-process',
      instances: INSTANCES,
      simulation: { timeScale: 0 },
      storeKubeconfig: store?.kubeconfig,
    });
    const vms = await world.agree<{ ref: string }[]>('/api/vms', (list) => list.length >= MEMBERS);
    refs = vms.map(({ ref }) => ref).slice(0, MEMBERS);
  }, ROUND_MS);

  afterAll(async () => {
    await world?.close();
    await store?.close();
  });

  test(
    `agree about folders and tasks, and run nothing twice, for ${ROUNDS} rounds`,
    async () => {
      const random = randomOf(SEED);
      const outcomes = { done: 0, error: 0 };
      for (let round = 1; round <= ROUNDS; round++) {
        world.round = round;
        world.tagged.clear();
        const victim = world.replicas[round % REPLICAS]!;
        const other = world.replicas[(round + 1) % REPLICAS]!;
        const folder = `round-${round}`;
        world.sandbox.requests.reset();
        victim.startTask(round);
        other.startTask(round);
        const requests = [
          victim.send('POST', '/api/ext/bulk', { action: 'tag', tag: `r${round}`, refs }),
          other.send('POST', '/api/folders', { path: folder }),
          victim.send('POST', '/api/folders', { path: `${folder}-victim` }),
          ...refs
            .slice(0, 4)
            .map((ref, index) =>
              (index % 2 ? victim : other).send('POST', '/api/folders/members', { path: folder, ref }),
            ),
        ];
        await world.untilRequests(5 + Math.floor(random() * (maxRequests - 5)));
        await victim.kill();
        victim.start();
        await Promise.all([victim.ready, ...requests]);

        // The task of the replica that was not killed is accepted in any case, though not while that does not reach the
        // store in time.
        const tasks = await world.agree<Task[]>(
          '/api/tasks',
          (list) =>
            list.every(({ status }) => status !== 'running') &&
            list.some(({ id }) => id.startsWith(`create-r${round}-`)),
        );
        const current = tasks.filter(({ id, bulk }) => id.startsWith(`create-r${round}-`) || bulk?.tag === `r${round}`);
        for (const { id, status } of current) {
          outcomes[status === 'done' ? 'done' : 'error']++;
          await world.agree<Task>(`/api/tasks/${id}`, (task) => task.status === status);
        }
        const own = current.filter(({ kind }) => kind === 'create');
        expect([round, own.map(({ status }) => status)]).toEqual([round, own.map(() => 'done')]);
        const effects = world.effects();
        expect([...effects.values()].filter((count) => count !== 1)).toEqual([]);
        for (const { id } of own)
          expect([id, STEPS.map((step) => effects.get(`${id} ${step}`))]).toEqual([id, STEPS.map(() => 1)]);
        for (const { id } of current.filter(({ kind }) => kind === 'bulk')) {
          const { members = [] } = await other.get<Task>(`/api/tasks/${id}`);
          for (const { ref, status, error } of members) {
            const count = world.tagged.get(`${ref.split('/')[3]} r${round}`) ?? 0;
            expect([round, ref, status, count]).toEqual([
              round,
              ref,
              status,
              status === 'done' ? 1 : Math.min(count, 1),
            ]);
            if (status !== 'done') expect(error).toMatch(/may have been carried out/);
          }
        }
        const { folders } = await world.agree<Folders>('/api/folders', () => true);
        expect(folders.map(({ path }) => path)).toContain(folder);
        const everyone = folders.flatMap(({ members }) => members.map(({ ref }) => ref));
        expect(new Set(everyone).size).toBe(everyone.length);
        if (round % REPORTED_ROUNDS === 0) process.stdout.write(`round ${round} of ${ROUNDS}\n`);
      }
      process.stdout.write(`${ROUNDS} rounds: ${outcomes.done} tasks done, ${outcomes.error} ended as interrupted\n`);
    },
    ROUNDS * ROUND_MS,
  );

  test(
    'show the resource usage that the leader has read',
    async () => {
      const vms = await world.agree<{ ref: string; status: string }[]>('/api/vms', (list) =>
        list.some(({ status }) => status === 'Running'),
      );
      const [, , namespace, name] = vms.find(({ status }) => status === 'Running')?.ref.split('/') ?? [];
      // The replicas would have read it at different times.
      const { t, memory } = await world.agree<{ t?: number; memory: object | null }>(
        `/api/vms/${namespace}/${name}/metrics`,
        (usage) => usage.t !== undefined,
      );
      expect([t, memory]).toEqual([expect.any(Number), expect.any(Object)]);
    },
    ROUND_MS,
  );

  test(
    'send no change that they had begun before they were suspended, when another one has taken over meanwhile',
    async () => {
      const [a, b] = world.replicas as [Replica, Replica, Replica];
      const isRunning = ({ status }: { status: string }): boolean => status === 'Running';
      const vms = await world.agree<{ ref: string; status: string }[]>('/api/vms', (list) => list.some(isRunning));
      const { ref = '' } = vms.find(isRunning) ?? {};
      const [, , namespace = '', name = ''] = ref.split('/');
      const path = `/api/vms/${namespace}/${name}`;
      const { faults, requests } = world.sandbox;
      const read = { resource: VMS, verb: 'get', namespace, name };
      requests.reset();
      const endDelay = faults.delay(read, SUSPENDED_MS);
      const stopped = a.request('POST', `${path}/stop`);
      await until(() => requests.count(read) > 0);
      a.suspend();
      endDelay();
      // Refused until the lease of the suspended replica has expired.
      await until(async () => (await b.request('POST', `${path}/start`)).status === 200);
      a.resume();
      expect(await stopped).toMatchObject({ status: 503, json: { code: 'NOT_READY' } });
      await world.agree<{ ref: string; status: string }[]>('/api/vms', (list) =>
        list.some((entry) => entry.ref === ref && isRunning(entry)),
      );
    },
    ROUND_MS,
  );

  test(
    'accept the API tokens of each other until one of them revokes them, also after they were killed',
    async () => {
      const [a, b, c] = world.replicas as [Replica, Replica, Replica];
      const body = { name: 'ci', actions: ['read'] };
      const { status, json } = await a.request('POST', '/api/ext/tokens', { body });
      expect([status, json]).toEqual([201, expect.objectContaining({ token: expect.stringMatching(/^hgt_/) })]);
      const { id, token } = json as { id: string; token: string };
      await world.untilStatus(200, '/api/folders', token);
      expect((await c.request('POST', '/api/ext/tokens', { body })).status).toBe(409);
      await a.kill();
      a.start();
      await a.ready;
      await world.untilStatus(200, '/api/folders', token);
      expect((await b.request('DELETE', `/api/ext/tokens/${id}`)).status).toBe(200);
      await world.untilStatus(403, '/api/folders', token);
    },
    ROUND_MS,
  );

  test(
    'know soon that another replica has created or revoked an API token',
    async () => {
      const [a, ...others] = world.replicas as [Replica, Replica, Replica];
      const accepted: number[] = [];
      const refused: number[] = [];
      for (let index = 0; index < MEASURED_TOKENS; index++) {
        const { json } = await a.request('POST', '/api/ext/tokens', {
          body: { name: `m-${index}`, actions: ['read'] },
        });
        const { id, token } = json as { id: string; token: string };
        accepted.push(...(await Promise.all(others.map((other) => other.timeUntilStatus(200, '/api/folders', token)))));
        expect((await a.request('DELETE', `/api/ext/tokens/${id}`)).status).toBe(200);
        // The replica that has revoked it refuses it from then on.
        expect((await a.request('GET', '/api/folders', { token })).status).toBe(403);
        refused.push(...(await Promise.all(others.map((other) => other.timeUntilStatus(403, '/api/folders', token)))));
      }
      process.stdout.write(
        `other replicas accept a token after ${delaysOf(accepted)}, refuse it after ${delaysOf(refused)}\n`,
      );
    },
    ROUND_MS,
  );
}

const TITLE = `${REPLICAS} replicas, killed in turn`;
if (STORE !== 'real') describe(TITLE, () => suite(65, async () => undefined));
// The simulated cluster gets the requests about VMs only.
if (STORE !== 'simulated')
  describeOnRealApiServer(`${TITLE}, with their store in a real API server`, () =>
    suite(18, () => openRealStore('headgate')),
  );

/** The median and the longest of some times. */
function delaysOf(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b).map(Math.round);
  return `${sorted[Math.floor(sorted.length / 2)]} ms (at most ${sorted.at(-1)} ms)`;
}
