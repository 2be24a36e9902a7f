import {
  SystemClock,
  type ApiToken,
  type Clock,
  type InstanceReading,
  type SampleRound,
  type Webhook,
} from '@headgate/domain-contracts';
import { FixedClock, ManualReplica } from '@headgate/testing';
import { SERVICE_SOURCES } from '../api/resources.js';
import { ClusterStore } from './cluster-store.js';
import { KubeSampleExchange } from './samples/kube-sample-exchange.js';
import { encodeRound } from './samples/sample-text.js';
import { KubeSourceStore } from './sources/kube-source-store.js';
import { NAMESPACE, StoreHarness } from './testing/store-harness.contract.js';
import { turn, until } from './testing/until.contract.js';
import { KubeApiTokenStore } from './tokens/kube-api-token-store.js';
import { KubeWebhookStore } from './webhooks/kube-webhook-store.js';

const TOKENS = 'servicetokens.svc.dev';
const EVENTS = 'serviceevents.svc.dev';
const WEBHOOKS = 'servicewebhooks.svc.dev';
const SAMPLES = 'servicesamples.svc.dev';
const REFRESH_INTERVAL_MS = 5_000;
const MIB = 1_048_576;

interface Stored {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: Record<string, unknown>;
}

const token = (id: string): ApiToken => ({
  id,
  name: id,
  hash: 'b'.repeat(64),
  creator: 'ann',
  scope: { folder: 'prod' },
  actions: ['read'],
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2099-01-01T00:00:00.000Z',
  lastUsedAt: null,
});

const webhook: Webhook = {
  id: 'a',
  name: 'a',
  url: 'https://example.org/hook',
  secret: 'whsec_c2VjcmV0',
  events: ['task.ended'],
  creator: 'ann',
  createdAt: '2026-01-01T00:00:00.000Z',
  position: 0,
  attempts: 0,
  nextAttemptAt: null,
  lastError: '',
  lastDeliveredAt: null,
  disabled: false,
  missed: 0,
};

describe('the shared objects in custom resources', () => {
  let harness: StoreHarness;
  let stores: ClusterStore[];
  let opened: { close(): Promise<void> }[];

  beforeEach(async () => {
    harness = await StoreHarness.open();
    stores = [];
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await Promise.all(stores.map((store) => store.close()));
    await harness.close();
  });

  const connect = (clock: Clock = new SystemClock()): ClusterStore => {
    const store = ClusterStore.open({
      context: 'lab',
      namespace: NAMESPACE,
      clock,
      kubeconfig: { text: harness.sandbox.kubeconfig() },
    });
    stores.push(store);
    return store;
  };
  /** Closes it before its connection. */
  const closeLater = <T extends { close(): Promise<void> }>(store: T): T => {
    opened.push(store);
    return store;
  };
  const stored = (resource: string): Stored[] => harness.sandbox.store.list(resource) as unknown as Stored[];
  const overwrite = (resource: string, object: Stored, spec: object): void => {
    harness.sandbox.store.update(resource, { ...object, spec: { ...object.spec, ...spec } } as never);
  };

  describe('for API tokens', () => {
    const open = async (replica = new ManualReplica(), log = { info: () => undefined, warn: () => undefined }) => {
      const tokens = closeLater(new KubeApiTokenStore(connect(), replica, log));
      await tokens.open();
      return tokens;
    };

    test('contain the hash, and are named so that a name exists once', async () => {
      const tokens = await open();
      await tokens.put(token('ci'));
      const [object] = stored(TOKENS);
      expect(object?.spec).toEqual({ formatVersion: 1, revision: 1, token: token('ci') });
      expect(object?.metadata.name).toMatch(/^token-[0-9a-f]{40}$/);
    });

    test('are refused while the replica has lost the store, and not afterwards', async () => {
      const replica = new ManualReplica();
      const tokens = await open(replica);
      await tokens.put(token('ci'));
      let reports = 0;
      tokens.subscribe(() => reports++);
      replica.leave();
      expect(() => tokens.get('ci')).toThrow(expect.objectContaining({ code: 'NOT_READY' }));
      expect(reports).toBe(1);
      replica.join();
      expect(tokens.get('ci')).toEqual(token('ci'));
    });

    /** A replica whose watch can fall silent, as if its connection was dropped without a sign of it. */
    const openSilent = async (replica = new ManualReplica()) => {
      const clock = new FixedClock();
      const store = connect(clock);
      let isSilent = false;
      const watch = store.watch.bind(store);
      store.watch = ((resource, sink) =>
        watch(resource, {
          upsert: (object) => void (isSilent || sink.upsert(object as never)),
          remove: (key) => void (isSilent || sink.remove(key)),
          keys: () => sink.keys(),
        })) as ClusterStore['watch'];
      const tokens = closeLater(new KubeApiTokenStore(store, replica));
      await tokens.open();
      let reports = 0;
      tokens.subscribe(() => reports++);
      return { tokens, clock, store, silence: () => void (isSilent = true), reports: () => reports };
    };
    const listsOfTokens = (): number => harness.sandbox.requests.count({ resource: TOKENS, verb: 'list' });
    /** Lets the tokens be read again, and waits for the end of that. */
    const refresh = async (clock: FixedClock): Promise<void> => {
      const before = listsOfTokens();
      clock.advance(REFRESH_INTERVAL_MS);
      await until(() => listsOfTokens() > before);
      for (let count = 0; count < 200; count++) await turn();
    };

    test('are refused after they are revoked elsewhere, also if the watch does not report it', async () => {
      const a = await open();
      const b = await openSilent();
      await a.put(token('ci'));
      await a.put(token('other'));
      await until(() => b.tokens.all().length === 2);
      const before = b.reports();
      b.silence();
      await a.delete('ci');
      await a.put({ ...token('other'), actions: [] });
      await refresh(b.clock);
      await until(() => b.tokens.get('ci') === undefined && b.tokens.get('other')?.actions.length === 0);
      expect(b.reports()).toBeGreaterThan(before);
    });

    test('are refused when they could not be read for 15 seconds, and accepted after they were read', async () => {
      const { tokens, clock, reports } = await openSilent();
      await tokens.put(token('ci'));
      const clear = harness.sandbox.faults.forbid({ resource: TOKENS, verb: 'list' });
      for (let count = 0; count < 3; count++) await refresh(clock);
      expect([tokens.get('ci'), reports()]).toEqual([token('ci'), 0]);
      await refresh(clock);
      expect(() => tokens.get('ci')).toThrow(expect.objectContaining({ code: 'NOT_READY' }));
      // So that their connections are closed.
      expect(reports()).toBe(1);
      clear();
      await refresh(clock);
      await until(() => listsOfTokens() > 0 && isAccepted(tokens));
    });
    const isAccepted = (tokens: KubeApiTokenStore): boolean => {
      try {
        return tokens.get('ci') !== undefined;
      } catch {
        return false;
      }
    };

    test('are not accepted again, nor get back their rights, from a list that is older than the watch', async () => {
      const { tokens, clock, store } = await openSilent();
      const a = await open();
      for (const id of ['revoked', 'edited', 'deleted']) await a.put(token(id));
      await until(() => tokens.all().length === 3);
      const isRead = Promise.withResolvers<void>();
      const isHeld = Promise.withResolvers<void>();
      const list = store.api.list.bind(store.api);
      store.api.list = (async (...args: Parameters<typeof list>) => {
        const objects = await list(...args);
        isRead.resolve();
        await isHeld.promise;
        return objects;
      }) as typeof list;
      clock.advance(REFRESH_INTERVAL_MS);
      await isRead.promise;
      await a.delete('revoked');
      // An administrator does not count up the revision.
      const edited = stored(TOKENS).find(({ spec }) => (spec['token'] as ApiToken).id === 'edited');
      overwrite(TOKENS, edited!, { token: { ...token('edited'), actions: [] } });
      await tokens.delete('deleted');
      await tokens.put(token('new'));
      const rights = (): unknown[] => tokens.all().map(({ id, actions }) => [id, actions.length]);
      const expected = [
        ['edited', 0],
        ['new', 1],
      ];
      await until(() => JSON.stringify(rights()) === JSON.stringify(expected));
      isHeld.resolve();
      for (let count = 0; count < 200; count++) await turn();
      expect(rights()).toEqual(expected);
    });

    test('are not read any more when the store is closed, which ends a list that is under way', async () => {
      const { tokens, clock, store } = await openSilent();
      const started = Promise.withResolvers<AbortSignal | undefined>();
      store.api.list = (_resource, { signal } = {}) => {
        started.resolve(signal);
        return new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('aborted')));
        });
      };
      clock.advance(REFRESH_INTERVAL_MS);
      expect((await started.promise)?.aborted).toBe(false);
      await tokens.close();
      expect((await started.promise)?.aborted).toBe(true);
      await store.close();
      expect(clock.pending).toBe(0);
    });

    test('are revoked when an administrator deletes the object', async () => {
      const tokens = await open();
      await tokens.put(token('ci'));
      await tokens.put(token('other'));
      let reports = 0;
      tokens.subscribe(() => reports++);
      const object = stored(TOKENS).find(({ spec }) => (spec['token'] as ApiToken).id === 'ci');
      harness.sandbox.store.delete(TOKENS, { namespace: NAMESPACE, name: object!.metadata.name });
      await until(() => tokens.get('ci') === undefined);
      expect([reports, tokens.all().map(({ id }) => id)]).toEqual([1, ['other']]);
    });

    test('lose the rights that an administrator removes from the object', async () => {
      const tokens = await open();
      await tokens.put(token('ci'));
      overwrite(TOKENS, stored(TOKENS)[0]!, { token: { ...token('ci'), actions: [] } });
      await until(() => tokens.get('ci')?.actions.length === 0);
    });

    test('can have the name of a token that was just deleted', async () => {
      const tokens = await open();
      for (let index = 0; index < 5; index++) {
        await tokens.put({ ...token('ci'), id: `ci-${index}` });
        expect(tokens.all().map(({ id }) => id)).toEqual([`ci-${index}`]);
        // The removal of the earlier object may arrive first.
        await until(() => tokens.get(`ci-${index}`) !== undefined);
        if (index < 4) expect(await tokens.delete(`ci-${index}`)).toBe(true);
      }
      await tokens.put(token('last'));
      const other = await open();
      await until(() => tokens.all().length === 2);
      expect(other.get('ci-4')).toEqual({ ...token('ci'), id: 'ci-4' });
    });

    test.each([
      ['damaged', { token: { id: 'ci' } }, /is damaged/],
      ['of a newer release', { formatVersion: 2 }, /a newer release wrote the API token headgate\/token-/],
    ])('keep the service from starting when one is %s, and stay as they are', async (_what, spec, message) => {
      const tokens = await open();
      await tokens.put(token('ci'));
      const [object] = stored(TOKENS);
      // Only the service checks these, so the definition accepts them.
      overwrite(TOKENS, object!, spec);
      const before = stored(TOKENS);
      await expect(open()).rejects.toMatchObject({ code: 'NOT_READY', message: expect.stringMatching(message) });
      expect(stored(TOKENS)).toEqual(before);
    });

    test('are skipped with one line in the log, however often they are read', async () => {
      const warnings: unknown[] = [];
      const clock = new FixedClock();
      const log = { info: () => undefined, warn: (...line: unknown[]) => void warnings.push(line) };
      const tokens = closeLater(new KubeApiTokenStore(connect(clock), new ManualReplica(), log as never));
      await tokens.open();
      await tokens.put(token('ci'));
      overwrite(TOKENS, stored(TOKENS)[0]!, { formatVersion: 2, revision: 2 });
      await until(() => tokens.get('ci') === undefined);
      for (let count = 0; count < 3; count++) await refresh(clock);
      expect(warnings).toHaveLength(1);
    });

    test('are no longer valid when another release rewrites them while the service runs', async () => {
      const warnings: unknown[] = [];
      const tokens = await open(new ManualReplica(), {
        info: () => undefined,
        warn: (...line: unknown[]) => void warnings.push(line),
      } as never);
      await tokens.put(token('ci'));
      overwrite(TOKENS, stored(TOKENS)[0]!, { formatVersion: 2, revision: 2 });
      await until(() => tokens.get('ci') === undefined);
      expect(warnings).toHaveLength(1);
    });
  });

  describe('for custom sources', () => {
    const source = { name: 'mine', kind: 'containerDisk', uri: 'example.org/mine:1', description: '' } as const;
    const open = async () => {
      const store = connect();
      const sources = closeLater(new KubeSourceStore(store));
      await sources.open();
      return { sources, store };
    };

    test('are stored again by a replica that has not seen yet that another one has deleted them', async () => {
      const [a, b] = [await open(), await open()];
      await a.sources.put(source);
      await until(() => b.sources.get('mine') !== undefined);
      // The watch of b reports the deletion late.
      const [object] = stored('servicesources.svc.dev');
      await b.store.api.delete(SERVICE_SOURCES, { namespace: NAMESPACE, name: object!.metadata.name });
      await b.sources.put({ ...source, uri: 'example.org/mine:2' });
      expect(stored('servicesources.svc.dev').map(({ spec }) => spec['source'])).toEqual([
        { ...source, uri: 'example.org/mine:2' },
      ]);
      await until(() => a.sources.get('mine')?.uri === 'example.org/mine:2');
    });

    test('do not change for a VM that is being created while another replica deletes them', async () => {
      const [a, b] = [await open(), await open()];
      await a.sources.put(source);
      await until(() => b.sources.get('mine') !== undefined);
      const used = b.sources.get('mine');
      await a.sources.delete('mine');
      await until(() => b.sources.get('mine') === undefined);
      expect(used).toEqual(source);
      // A second deletion, at the other replica, finds nothing and fails nothing.
      expect(await b.sources.delete('mine')).toBe(false);
    });
  });

  describe('for webhooks', () => {
    const event = (index: number, body = `{"type":"task.ended","data":{"id":${index}}}`) => ({
      type: 'task.ended' as const,
      time: new Date(index * 1000).toISOString(),
      body,
    });
    const events = (count: number, from = 1) => Array.from({ length: count }, (_none, index) => event(from + index));
    const open = async (maxEvents?: number) => {
      const webhooks = closeLater(new KubeWebhookStore(connect(), { maxEvents }));
      await webhooks.open();
      return webhooks;
    };

    test('keep the events in parts of 100, in their order', async () => {
      const webhooks = await open();
      await webhooks.append(events(250));
      await webhooks.append(events(1, 251));
      expect(stored(EVENTS).map(({ spec }) => [spec['first'], (spec['events'] as unknown[]).length])).toEqual([
        [1, 100],
        [101, 100],
        [201, 51],
      ]);
      const again = await open();
      expect(again.bounds()).toEqual({ oldest: 1, newest: 251 });
      expect([0, 99, 100, 199, 250, 251].map((position) => again.next(position, ['task.ended'])?.body)).toEqual(
        [1, 100, 101, 200, 251].map((index) => event(index).body).concat([undefined as never]),
      );
      expect(again.positionBefore(event(150).time)).toBe(149);
      await webhooks.close();
      await again.close();
    });

    test('delete the parts beyond the bound, and never use a number again', async () => {
      const webhooks = await open(120);
      await webhooks.append(events(350));
      expect(webhooks.bounds()).toEqual({ oldest: 231, newest: 350 });
      expect(stored(EVENTS).map(({ spec }) => spec['first'])).toEqual([201, 301]);
      await webhooks.close();
      const again = await open(120);
      await again.append(events(1, 351));
      expect([again.bounds().newest, again.next(350, ['task.ended'])?.number]).toEqual([351, 351]);
      await again.close();
    });

    test('begin a new part when one has many bytes', async () => {
      const webhooks = await open();
      for (let index = 1; index <= 6; index++) await webhooks.append([event(index, 'x'.repeat(100_000))]);
      const sizes = stored(EVENTS).map(({ spec }) => (spec['events'] as unknown[]).length);
      expect(sizes).toEqual([3, 3]);
      expect(webhooks.bounds()).toEqual({ oldest: 1, newest: 6 });
      await webhooks.close();
    });

    test('are deleted with their secret', async () => {
      const webhooks = await open();
      await webhooks.put(webhook);
      expect(JSON.stringify(stored(WEBHOOKS))).toContain(webhook.secret);
      await webhooks.delete('a');
      expect(stored(WEBHOOKS)).toEqual([]);
      await webhooks.close();
    });
  });

  describe('for resource usage', () => {
    /** Mulberry32: values that don't compress well, as those of busy guests. */
    const randomOf = (seed: number) => (most: number) => {
      seed = (seed + 0x6d2b79f5) | 0;
      let value = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
      return Math.floor((((value ^ (value >>> 14)) >>> 0) / 4_294_967_296) * most);
    };
    const busy = (count: number, time = 1000): SampleRound => {
      const random = randomOf(time);
      const instances = Array.from({ length: count }, (_none, index): InstanceReading => ({
        ref: { kind: 'vm', context: 'lab', namespace: `team-${index % 40}`, name: `vm-${index}` },
        cpuTimeMs: random(2 ** 32),
        cpuMillicores: null,
        memoryUsedBytes: random(2 ** 36),
        memoryTotalBytes: 2 ** 36,
        diskReadBytes: random(2 ** 42),
        diskWrittenBytes: random(2 ** 42),
        networkReceivedBytes: random(2 ** 42),
        networkTransmittedBytes: random(2 ** 42),
      }));
      return { context: 'lab', time, readings: { instances, nodes: [] } };
    };
    const open = async (maxDataChars?: number, warnings: unknown[] = []) => {
      const log = { info: () => undefined, warn: (...line: unknown[]) => void warnings.push(line) };
      const exchange = closeLater(new KubeSampleExchange(connect(), { maxDataChars, log: log as never }));
      await exchange.open();
      const rounds: SampleRound[] = [];
      exchange.subscribe((round) => rounds.push(round));
      return { exchange, rounds };
    };

    test('fit into one object below 1 MiB for 10,000 busy VMs', async () => {
      const { exchange } = await open();
      await exchange.publish(busy(10_000));
      const objects = stored(SAMPLES);
      expect(objects).toHaveLength(1);
      expect(Buffer.byteLength(JSON.stringify(objects[0]))).toBeLessThan(MIB);
    });

    test('are in several parts when they are larger, of which those that are no longer needed are deleted', async () => {
      const [a, b] = [await open(5_000), await open(5_000)];
      await a.exchange.publish(busy(1000));
      const parts = Math.ceil((await encodeRound(busy(1000))).length / 5_000);
      expect(stored(SAMPLES)).toHaveLength(parts);
      await until(() => b.rounds.length === 1);
      await a.exchange.publish(busy(10, 2000));
      await until(() => b.rounds.length === 2);
      expect([b.rounds, parts > 3]).toEqual([[busy(1000), busy(10, 2000)], true]);
      await until(() => stored(SAMPLES).length === 1);
    });

    test('are not used when the leader ended before it had written all parts', async () => {
      const [a, b] = [await open(5_000), await open(5_000)];
      await a.exchange.publish(busy(500));
      await until(() => b.rounds.length === 1);
      const first = stored(SAMPLES).find(({ spec }) => spec['index'] === 0)!;
      overwrite(SAMPLES, first, { round: 'unfinished', time: 2000, revision: 2 });
      // Until the replica has seen that change, its writes are refused.
      for (let isPublished = false; !isPublished;) {
        isPublished = await a.exchange.publish(busy(500, 3000)).then(
          () => true,
          () => turn().then(() => false),
        );
      }
      await until(() => b.rounds.length === 2);
      expect(b.rounds.map(({ time }) => time)).toEqual([1000, 3000]);
    });

    test('are skipped when they can not be read, and do not keep the service from starting', async () => {
      const { exchange } = await open();
      await exchange.publish(busy(3));
      const warnings: unknown[] = [];
      overwrite(SAMPLES, stored(SAMPLES)[0]!, { data: 'bm90IGd6aXA=', revision: 2 });
      const { rounds } = await open(undefined, warnings);
      await until(() => warnings.length === 1);
      overwrite(SAMPLES, stored(SAMPLES)[0]!, { formatVersion: 2, revision: 3 });
      await open(undefined, warnings);
      await until(() => warnings.length >= 2);
      expect(rounds).toEqual([]);
    });
  });
});
