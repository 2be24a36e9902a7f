import type { Webhook, WebhookEvent, WebhookStore } from '@headgate/domain-contracts';

export interface WebhookStoreHarness {
  readonly store: WebhookStore;
  /** The same storage after a restart. */
  reopen(): WebhookStore;
  close(): void;
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
export function webhookStoreContract(adapter: string, open: (maxEvents: number) => WebhookStoreHarness): void {
  describe(`WebhookStore, ${adapter}`, () => {
    const MAX_EVENTS = 5;
    let harness: WebhookStoreHarness;

    beforeEach(() => {
      harness = open(MAX_EVENTS);
    });
    afterEach(() => harness?.close());

    test('keeps webhooks in the order of their creation, and replaces one by its ID', () => {
      const second = webhook('a', { createdAt: '2026-01-02T00:00:00.000Z' });
      harness.store.put(second);
      harness.store.put(webhook('b'));
      harness.store.put(webhook('b', { position: 7, disabled: true }));
      const again = harness.reopen();
      expect(again.all()).toEqual([webhook('b', { position: 7, disabled: true }), second]);
      expect([again.delete('b'), again.delete('b'), again.get('b'), again.get('a')]).toEqual([
        true,
        false,
        undefined,
        second,
      ]);
    });

    test('returns the next event of the given types', () => {
      harness.store.append([event(1), event(2, 'instance.changed'), event(3)]);
      const again = harness.reopen();
      expect(again.next(0, ['task.ended'])).toEqual({ ...event(1), number: 1 });
      expect(again.next(1, ['task.ended'])).toEqual({ ...event(3), number: 3 });
      expect(again.next(1, ['task.ended', 'instance.changed'])).toMatchObject({ number: 2 });
      expect([again.next(3, ['task.ended']), again.next(0, [])]).toEqual([undefined, undefined]);
    });

    test('drops the oldest events beyond its bound, and never uses a number twice', () => {
      expect(harness.store.bounds()).toEqual({ oldest: 0, newest: 0 });
      for (let minute = 1; minute <= 8; minute++) harness.store.append([event(minute)]);
      const again = harness.reopen();
      expect(again.bounds()).toEqual({ oldest: 4, newest: 8 });
      again.append([event(9)]);
      expect([again.bounds(), again.next(0, ['task.ended'])?.body]).toEqual([{ oldest: 5, newest: 9 }, '{"minute":5}']);
    });

    test('finds the position before a time', () => {
      harness.store.append([event(1), event(3), event(5)]);
      const positions = [0, 1, 2, 5, 6].map((minute) => harness.store.positionBefore(event(minute).time));
      expect(positions).toEqual([0, 0, 1, 2, 3]);
    });
  });
}
