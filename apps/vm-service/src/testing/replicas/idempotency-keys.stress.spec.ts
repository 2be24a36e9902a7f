import type { Replica } from './replica.js';
import { ReplicaWorld } from './replicas.js';
import { until } from './until.js';

const START_MS = 60_000;
const VMS = 'virtualmachines.kubevirt.io';

describe('idempotency keys of replicas', () => {
  let world: ReplicaWorld;
  let a: Replica;
  let b: Replica;
  /** `namespace/name` of a VM. */
  let vm: string;

  beforeAll(async () => {
    world = await ReplicaWorld.open({
      count: 2,
      program: 'service-process',
      instances: 3,
      simulation: { timeScale: 0 },
    });
    [a, b] = world.replicas as [Replica, Replica];
    const [first] = await world.agree<{ namespace: string; name: string }[]>('/api/vms', ({ length }) => length >= 3);
    vm = `${first?.namespace}/${first?.name}`;
  }, START_MS);
  afterAll(() => world?.close());

  /** The codes of the refusals until the outcome counts as unknown, without repetitions. */
  const codesUntilUnknown = async (replica: Replica, request: { key: string; body: object }): Promise<unknown[]> => {
    const codes = new Set<unknown>();
    await until(
      async () => {
        const { status, json } = await replica.request('POST', `/api/vms/${vm}/tags`, request);
        expect(status).toBe(409);
        codes.add(json['code']);
        return json['code'] === 'ANSWER_UNKNOWN';
      },
      () => `the answers were ${[...codes].join(', ')}`,
    );
    return [...codes];
  };

  test('give the answer of one replica to a client of the other one', async () => {
    const request = { key: 'k1', body: { tag: 'r0', on: true } };
    const first = await a.request('POST', `/api/vms/${vm}/tags`, request);
    const again = await b.request('POST', `/api/vms/${vm}/tags`, request);
    expect([first, again]).toEqual([
      { status: 200, json: request.body },
      { status: 200, json: request.body },
    ]);
    expect([...world.tagged.values()]).toEqual([1]);
  });

  test(
    'do not let another replica repeat a request whose replica was killed before its answer',
    async () => {
      world.round = 1;
      world.tagged.clear();
      let killed: Promise<void> | undefined;
      world.sandbox.admission.addValidating({
        name: 'kill.svc.dev',
        resources: [VMS],
        operations: ['UPDATE'],
        admit: ({ object }) => {
          if ('svc.dev/tag.r1' in (object?.metadata.labels ?? {})) killed ??= a.kill();
        },
      });
      const request = { key: 'k2', body: { tag: 'r1', on: true } };
      await expect(a.request('POST', `/api/vms/${vm}/tags`, request)).rejects.toThrow('fetch failed');
      await killed;
      // While the lease of the killed replica may be valid, that could still answer.
      expect(await codesUntilUnknown(b, request)).toEqual(['KEY_IN_USE', 'ANSWER_UNKNOWN']);
      await a.restart();
      await a.whenReady();
      expect((await codesUntilUnknown(a, request)).at(-1)).toBe('ANSWER_UNKNOWN');
      expect([...world.tagged.values()]).toEqual([1]);
    },
    START_MS,
  );
});
