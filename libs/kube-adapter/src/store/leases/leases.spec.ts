import { jest } from '@jest/globals';
import { FixedClock } from '@headgate/testing';
import { ClusterStore } from '../cluster-store.js';
import { NAMESPACE, StoreHarness } from '../testing/store-harness.contract.js';
import { turn, until } from '../testing/until.contract.js';
import { KubeReplicas } from './kube-replicas.js';
import type { LeaseObject } from './lease-object.js';

const LEASES = 'leases.coordination.k8s.io';
const LEADER = { namespace: NAMESPACE, name: 'headgate-leader' };
const TIMES = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

/** Time may pass without its timers, as in a process that is suspended. */
class SuspendableClock extends FixedClock {
  suspendedMs = 0;

  override now(): number {
    return super.now() + this.suspendedMs;
  }
}

/** One replica with a clock of its own, which stops while the process is paused. */
class TestReplica {
  readonly clock = new SuspendableClock();
  readonly store: ClusterStore;
  readonly replicas: KubeReplicas;
  readonly events: string[] = [];

  constructor(kubeconfig: string, id: string) {
    this.store = ClusterStore.open({
      context: 'lab',
      namespace: NAMESPACE,
      clock: this.clock,
      kubeconfig: { text: kubeconfig },
    });
    this.replicas = new KubeReplicas(this.store, { times: TIMES, id });
    this.replicas.subscribe({
      joined: () => this.events.push('joined'),
      left: () => this.events.push('left'),
      elected: () => this.events.push('elected'),
      deposed: () => this.events.push('deposed'),
    });
  }
}

describe('the leases of the replicas', () => {
  let harness: StoreHarness;
  let replicas: TestReplica[];

  beforeEach(async () => {
    harness = await StoreHarness.open();
    replicas = [];
  });
  afterEach(async () => {
    for (const { replicas: one, store } of replicas) {
      await one.close();
      await store.close();
    }
    await harness.close();
  });

  const open = (id: string): TestReplica => {
    const replica = new TestReplica(harness.sandbox.kubeconfig(), id);
    replicas.push(replica);
    return replica;
  };
  const lease = (key: typeof LEADER): LeaseObject | undefined =>
    harness.sandbox.store.get(LEASES, key) as LeaseObject | undefined;
  const requests = (): number => harness.sandbox.requests.count({ resource: LEASES });
  /** Lets an attempt of a replica run to its end. */
  const attempt = async (replica: TestReplica, ms = TIMES.retryMs): Promise<void> => {
    const before = requests();
    replica.clock.advance(ms);
    await until(() => requests() >= before + 2 && replica.clock.pending > 0);
    for (let count = 0; count < 200; count++) await turn();
  };
  /** Lets the time of a replica pass in steps that are short compared with a request, until the condition holds. */
  const passUntil = async (replica: TestReplica, holds: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 50_000 && !holds(); turn++) {
      replica.clock.advance(2);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(holds()).toBe(true);
  };
  const leader = async (id: string): Promise<TestReplica> => {
    const replica = open(id);
    replica.replicas.start();
    await until(() => replica.replicas.isMember && replica.replicas.isLeader);
    return replica;
  };
  const follower = async (id: string): Promise<TestReplica> => {
    const replica = open(id);
    replica.replicas.start();
    await until(() => replica.replicas.isMember);
    return replica;
  };

  test('have one leader, and are written as other clients of Kubernetes write them', async () => {
    const a = await leader('a');
    const b = await follower('b');
    await attempt(b);
    expect([a.replicas.isLeader, b.replicas.isLeader]).toEqual([true, false]);
    expect(lease(LEADER)?.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    expect(lease({ namespace: NAMESPACE, name: 'headgate-replica-b' })?.spec?.holderIdentity).toBe('b');
  });

  test('are renewed, and stay with their holder', async () => {
    const a = await leader('a');
    const b = await follower('b');
    for (let count = 0; count < 10; count++) {
      await attempt(a);
      await attempt(b);
    }
    expect(a.events).toEqual(['joined', 'elected']);
    expect(b.events).toEqual(['joined']);
    expect(lease(LEADER)?.spec?.renewTime).toBe('2026-01-01T00:00:20.000000Z');
  });

  test('are taken when their holder does not renew them for their duration, by the clock of the one who takes them', async () => {
    await leader('a');
    const b = await follower('b');
    await attempt(b);
    for (let ms = 0; ms < 12_000; ms += TIMES.retryMs) await attempt(b);
    expect([b.replicas.isLeader, await b.replicas.isGone('a')]).toEqual([false, false]);
    await passUntil(b, () => b.replicas.isLeader);
    expect(lease(LEADER)?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    for (let ms = 0; ms < TIMES.durationMs; ms += TIMES.retryMs) await attempt(b);
    expect(await b.replicas.isGone('a')).toBe(true);
  });

  test('end the work of a leader that can not renew them before others may take them', async () => {
    const a = await leader('a');
    await harness.sandbox.faults.serverDown();
    for (let ms = 0; ms < 8_000; ms += TIMES.retryMs) a.clock.advance(TIMES.retryMs);
    expect(a.replicas.isLeader).toBe(true);
    a.clock.advance(TIMES.retryMs);
    expect([a.replicas.isLeader, a.replicas.isMember]).toEqual([false, false]);
    expect(a.events.slice(2).sort()).toEqual(['deposed', 'left']);
    await harness.sandbox.faults.serverUp();
    await passUntil(a, () => a.replicas.isLeader && a.replicas.isMember);
  });

  test('are released at a shutdown, so that another replica continues immediately', async () => {
    const a = await leader('a');
    const b = await follower('b');
    expect(await b.replicas.isGone('a')).toBe(false);
    await a.replicas.close();
    expect(lease({ namespace: NAMESPACE, name: 'headgate-replica-a' })).toBeUndefined();
    expect(await b.replicas.isGone('a')).toBe(true);
    await attempt(b);
    await until(() => b.replicas.isLeader);
    expect(lease(LEADER)?.spec?.leaseTransitions).toBe(1);
  });

  test('are lost by a replica that was paused, when it continues', async () => {
    const a = await leader('a');
    const b = await follower('b');
    await attempt(b);
    await passUntil(b, () => b.replicas.isLeader);
    // Only now does the clock of the paused replica move on.
    a.clock.advance(TIMES.retryMs);
    await until(() => !a.replicas.isLeader);
    expect(b.replicas.isLeader).toBe(true);
  });

  test('do not count as held any more in a process that was suspended, before its timers fire', async () => {
    const a = await leader('a');
    a.clock.suspendedMs = TIMES.renewDeadlineMs - 1;
    expect([a.replicas.isMember, a.replicas.isLeader]).toEqual([true, true]);
    a.clock.suspendedMs++;
    expect([a.replicas.isMember, a.replicas.isLeader]).toEqual([false, false]);
    expect(a.events).toEqual(['joined', 'elected']);
    a.clock.suspendedMs = 0;
  });

  test('of a claim give it to one replica, until that releases it or is gone', async () => {
    const [a, b] = [await leader('a'), await follower('b')];
    const owners = await Promise.all([a.replicas.claim('vnc/vm/lab/x/web'), b.replicas.claim('vnc/vm/lab/x/web')]);
    expect(new Set(owners).size).toBe(1);
    const [owner, other] = owners[0] === 'a' ? [a, b] : [b, a];
    expect(await other.replicas.claim('vnc/vm/lab/x/db')).toBe(other.replicas.id);
    await other.replicas.release('vnc/vm/lab/x/web');
    expect(await other.replicas.claim('vnc/vm/lab/x/web')).toBe(owner.replicas.id);
    await owner.replicas.release('vnc/vm/lab/x/web');
    expect(await other.replicas.claim('vnc/vm/lab/x/web')).toBe(other.replicas.id);
    // The owner is silent from here on.
    expect(await owner.replicas.claim('vnc/vm/lab/x/web')).toBe(other.replicas.id);
    for (let ms = 0; ms < TIMES.durationMs; ms += TIMES.retryMs) await attempt(owner);
    expect(await owner.replicas.claim('vnc/vm/lab/x/web')).toBe(owner.replicas.id);
  });

  test('of replicas that were killed are deleted by the leader', async () => {
    await follower('a');
    const killed = await follower('c');
    const b = replicas[0]!;
    await until(() => b.replicas.isLeader);
    const name = 'headgate-replica-c';
    // The first look begins the wait for the lease; the second one finds that it has expired.
    await b.replicas.isGone('c');
    for (let count = 0; count < 31; count++) await attempt(b);
    await until(() => lease({ namespace: NAMESPACE, name }) === undefined);
    expect(killed.replicas.isMember).toBe(true);
  });

  test('deletes the claims of replicas that were killed, and no others', async () => {
    const a = await leader('a');
    const killed = await follower('c');
    expect(await killed.replicas.claim('use vm/lab/x/web')).toBe('c');
    expect(await a.replicas.claim('use vm/lab/x/db')).toBe('a');
    const claims = (): string[] =>
      harness.sandbox.store
        .list(LEASES, { namespace: NAMESPACE })
        .flatMap(({ metadata }) => metadata.annotations?.['svc.dev/claim'] ?? []);
    await a.replicas.isGone('c');
    for (let count = 0; count < 31; count++) await attempt(a);
    await until(() => claims().length === 1);
    expect(claims()).toEqual(['use vm/lab/x/db']);
  });

  test('of a claim give it to a replica that takes it over while the leader deletes it', async () => {
    const a = await leader('a');
    const killed = await follower('c');
    expect(await killed.replicas.claim('use vm/lab/x/web')).toBe('c');
    const { api } = a.store;
    const replace = api.replace.bind(api);
    let deleted = 0;
    jest.spyOn(a.replicas, 'isGone').mockResolvedValue(true);
    jest.spyOn(api, 'replace').mockImplementation(async (resource, object) => {
      const { name = '' } = object.metadata;
      if (name.startsWith('headgate-claim') && deleted++ === 0)
        harness.sandbox.store.delete(LEASES, { namespace: NAMESPACE, name });
      return replace(resource, object);
    });
    expect(await a.replicas.claim('use vm/lab/x/web')).toBe('a');
    expect(deleted).toBe(1);
  });
});
