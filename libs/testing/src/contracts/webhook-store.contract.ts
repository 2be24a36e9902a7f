import type { Webhook, WebhookEvent, WebhookStore } from '@headgate/domain-contracts';
import { buildVm } from '../builders.js';
import { untilSeen, type SharedStoreHarness } from './shared-store.js';

export interface WebhookStoreHarness {
  readonly store: WebhookStore;
  /** The same storage after a restart. */
  reopen(): WebhookStore | Promise<WebhookStore>;
  close(): void | Promise<void>;
}

const webhook = (id: string, overrides: Partial<Webhook> = {}): Webhook => ({
  id,
  name: id,
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
  ...overrides,
});

const event = (minute: number, type: WebhookEvent['type'] = 'task.ended') => ({
  type,
  time: `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`,
  body: `{"minute":${minute}}`,
});

/** The rules for every `WebhookStore`. */
export function webhookStoreContract(
  adapter: string,
  open: (maxEvents: number) => WebhookStoreHarness | Promise<WebhookStoreHarness>,
): void {
  describe(`WebhookStore, ${adapter}`, () => {
    const MAX_EVENTS = 5;
    let harness: WebhookStoreHarness;

    beforeEach(async () => {
      harness = await open(MAX_EVENTS);
    });
    afterEach(() => harness?.close());

    test('keeps webhooks in the order of their creation, and replaces one by its ID', async () => {
      const second = webhook('a', { createdAt: '2026-01-02T00:00:00.000Z' });
      await harness.store.put(second);
      await harness.store.put(webhook('b'));
      await harness.store.put(webhook('b', { position: 7, disabled: true }));
      const again = await harness.reopen();
      expect(again.all()).toEqual([webhook('b', { position: 7, disabled: true }), second]);
      expect([await again.delete('b'), await again.delete('b'), again.get('b'), again.get('a')]).toEqual([
        true,
        false,
        undefined,
        second,
      ]);
    });

    // A definition of a custom resource drops the fields that it does not name.
    test('keeps every field', async () => {
      const time = '2026-01-03T00:00:00.000Z';
      const full: Required<Webhook> = {
        ...webhook('full', { position: 3, attempts: 2, lastError: 'status 500', disabled: true, missed: 4 }),
        former: { secret: 'whsec_Zm9ybWVy', until: time },
        scope: { kind: 'vm', q: 'web', context: 'lab', folder: 'prod' },
        paused: 'ann may read nothing.',
        nextAttemptAt: time,
        lastDeliveredAt: time,
      };
      await harness.store.put(full);
      expect((await harness.reopen()).get('full')).toEqual(full);
    });

    test('returns the next event of the given types', async () => {
      await harness.store.append([event(1), event(2, 'instance.changed'), event(3)]);
      const again = await harness.reopen();
      expect(again.next(0, ['task.ended'])).toEqual({ ...event(1), number: 1 });
      expect(again.next(1, ['task.ended'])).toEqual({ ...event(3), number: 3 });
      expect(again.next(1, ['task.ended', 'instance.changed'])).toMatchObject({ number: 2 });
      expect([again.next(3, ['task.ended']), again.next(0, [])]).toEqual([undefined, undefined]);
    });

    test('keeps the instances of an event', async () => {
      const subject = { instance: buildVm(), folder: 'prod' };
      const about = { seenBy: ['a'], instances: [subject], before: { instance: subject.instance } };
      await harness.store.append([{ ...event(1), about }, event(2)]);
      const again = await harness.reopen();
      expect([again.next(0, ['task.ended']), again.next(1, ['task.ended'])]).toEqual([
        { ...event(1), number: 1, about },
        { ...event(2), number: 2 },
      ]);
    });

    test('drops the oldest events beyond its bound, and never uses a number twice', async () => {
      expect(harness.store.bounds()).toEqual({ oldest: 0, newest: 0 });
      for (let minute = 1; minute <= 8; minute++) await harness.store.append([event(minute)]);
      const again = await harness.reopen();
      expect(again.bounds()).toEqual({ oldest: 4, newest: 8 });
      await again.append([event(9)]);
      expect([again.bounds(), again.next(0, ['task.ended'])?.body]).toEqual([{ oldest: 5, newest: 9 }, '{"minute":5}']);
    });

    test('finds the position before a time', async () => {
      await harness.store.append([event(1), event(3), event(5)]);
      const positions = [0, 1, 2, 5, 6].map((minute) => harness.store.positionBefore(event(minute).time));
      expect(positions).toEqual([0, 0, 1, 2, 3]);
    });

    test('changes the latest version of a webhook, and none that is gone', async () => {
      await harness.store.put(webhook('a'));
      await harness.store.update('a', (known) => ({ ...known, position: known.position + 4 }));
      await harness.store.update('a', () => undefined);
      await harness.store.update('gone', (known) => ({ ...known, position: 1 }));
      const again = await harness.reopen();
      expect(again.all()).toEqual([webhook('a', { position: 4 })]);
    });
  });
}

/** The rules for every `WebhookStore` that several replicas use, besides the others. */
export function sharedWebhookStoreContract(
  adapter: string,
  open: () => SharedStoreHarness<WebhookStore> | Promise<SharedStoreHarness<WebhookStore>>,
): void {
  describe(`WebhookStore of several replicas, ${adapter}`, () => {
    let harness: SharedStoreHarness<WebhookStore>;
    let a: WebhookStore;
    let b: WebhookStore;

    beforeEach(async () => {
      harness = await open();
      [a, b] = [await harness.join('a'), await harness.join('b')];
    });
    afterEach(() => harness?.close());

    test('shows the webhooks and the log to the other replicas, with the same numbers', async () => {
      const reported: WebhookEvent[] = [];
      b.subscribe((events) => reported.push(...events));
      await a.put(webhook('a'));
      await a.append([event(1), event(2)]);
      await a.append([event(3)]);
      await untilSeen(b, () => b.bounds().newest === 3 && b.get('a') !== undefined);
      expect(b.get('a')).toEqual(webhook('a'));
      expect([0, 1, 2, 3].map((position) => b.next(position, ['task.ended'])?.body)).toEqual([
        event(1).body,
        event(2).body,
        event(3).body,
        undefined,
      ]);
      expect(reported.map(({ number, body }) => [number, body])).toEqual(
        [1, 2, 3].map((number) => [number, event(number).body]),
      );
      await b.delete('a');
      await untilSeen(a, () => a.get('a') === undefined);
    });

    test('numbers the events of two replicas that append at the same time, and loses none', async () => {
      const minutes = Array.from({ length: 10 }, (_none, index) => index);
      await Promise.all(
        minutes.map((minute) => (minute % 2 ? a : b).append([event(minute), event(minute, 'instance.changed')])),
      );
      const c = await harness.join('c');
      expect(c.bounds()).toEqual({ oldest: 1, newest: 20 });
      const numbers = Array.from({ length: 20 }, (_none, index) => index);
      const bodies = numbers.map((position) => c.next(position, ['task.ended', 'instance.changed'])?.body);
      expect(bodies.sort()).toEqual(minutes.flatMap((minute) => [event(minute).body, event(minute).body]).sort());
    });

    test('changes a webhook at two replicas without losing either change', async () => {
      await a.put(webhook('a'));
      await untilSeen(b, () => b.get('a') !== undefined);
      await Promise.all(
        Array.from({ length: 6 }, (_none, index) =>
          (index % 2 ? a : b).update('a', (known) => ({ ...known, missed: known.missed + 1 })),
        ),
      );
      expect((await harness.join('c')).get('a')).toEqual(webhook('a', { missed: 6 }));
    });

    test('does not bring a deleted webhook back when its position is written', async () => {
      await a.put(webhook('a'));
      await untilSeen(b, () => b.get('a') !== undefined);
      await Promise.all([a.delete('a'), b.update('a', (known) => ({ ...known, position: 1 }))]);
      await untilSeen(b, () => b.get('a') === undefined);
      expect([a.all(), (await harness.join('c')).all()]).toEqual([[], []]);
    });

    test('gives a name to a webhook of each creator', async () => {
      await Promise.all([a.put(webhook('a', { name: 'ci' })), b.put(webhook('b', { name: 'ci', creator: 'bob' }))]);
      expect((await harness.join('c')).all()).toHaveLength(2);
    });

    test('gives a name to one webhook only', async () => {
      const created = await Promise.allSettled([
        a.put(webhook('a', { name: 'ci' })),
        b.put(webhook('b', { name: 'ci' })),
      ]);
      expect(created.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const refused = created.find((result) => result.status === 'rejected');
      expect(refused?.reason).toMatchObject({ code: 'ALREADY_EXISTS' });
      expect((await harness.join('c')).all()).toHaveLength(1);
    });
  });
}
