import {
  ADMINISTRATOR,
  Audit,
  RETRY_DELAYS_MS,
  SILENT_LOG,
  SingleReplica,
  type Replicas,
  type Caller,
  type WebhookEventType,
} from '@headgate/domain-contracts';
import { FixedClock, ManualReplica, MemoryAuditLog, MemoryWebhookStore } from '@headgate/testing';
import { CreateWebhook, DeleteWebhook, MAX_WEBHOOKS_PER_CREATOR, ReplayWebhook } from './webhook-changes.js';
import { RotateWebhook } from './rotate-webhook.js';
import { signedHeaders } from './signature.js';
import { WebhookDispatcher } from './webhook-dispatcher.js';
import { FakeRights } from './testing/fake-rights.js';
import { WebhookSender, type WebhookMessage } from './webhook-sender.js';

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const URL_A = 'https://a.example.org/hook?key=hidden';
const NOTHING = { instances: [] };
const MAX_TURNS = 50;

class FakeSender extends WebhookSender {
  readonly sent: WebhookMessage[] = [];
  answer: (message: WebhookMessage) => Promise<number> = async () => 200;

  override check(): void {}

  override send(message: WebhookMessage): Promise<number> {
    this.sent.push(message);
    return this.answer(message);
  }

  get ids(): (string | undefined)[] {
    return this.sent.map(({ headers }) => headers['webhook-id']?.replace(/^msg_[0-9a-f]+_/, ''));
  }
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < MAX_TURNS; turn++) await Promise.resolve();
};

function setUp(store = new MemoryWebhookStore(), replicas: Replicas = new SingleReplica(), clock = new FixedClock()) {
  const sender = new FakeSender();
  const rights = new FakeRights();
  const log = new MemoryAuditLog();
  const dispatcher = new WebhookDispatcher({ store, sender, clock, log: SILENT_LOG, replicas, rights });
  const deps = { store, dispatcher, sender, rights, clock, audit: new Audit(log, clock) };
  const create = new CreateWebhook(deps);
  const add = (name = 'a', events: readonly WebhookEventType[] = ['task.ended']) =>
    create.run(ann, { name, url: URL_A, events }, ann);
  const end = async (id: number): Promise<void> => {
    dispatcher.publish({ key: `task/${id}`, type: 'task.ended', data: { id }, about: NOTHING });
    await settle();
  };
  return {
    clock,
    store,
    sender,
    log,
    dispatcher,
    deps,
    create,
    add,
    end,
    remove: new DeleteWebhook(deps),
    replay: new ReplayWebhook(deps),
    rotate: new RotateWebhook(deps),
  };
}

describe('webhooks', () => {
  test('deliver each event once and in order, signed', async () => {
    const { sender, add, end } = setUp();
    await add();
    for (const id of [1, 2, 3]) await end(id);
    expect(sender.ids).toEqual(['1', '2', '3']);
    expect(sender.sent[0]).toMatchObject({
      url: URL_A,
      headers: { 'webhook-timestamp': '1767225600', 'webhook-signature': expect.stringMatching(/^v1,.{44}$/) },
      body: '{"type":"task.ended","timestamp":"2026-01-01T00:00:00.000Z","data":{"id":1}}',
    });
  });

  test('are signed with the former secret, too, for the hours of a rotation', async () => {
    const { clock, sender, log, add, end, rotate, store } = setUp();
    const first = await add();
    const signatures = async (...secrets: [string, ...string[]]): Promise<string | undefined> => {
      await end(sender.sent.length);
      const { headers, body } = sender.sent.at(-1)!;
      const message = { id: headers['webhook-id']!, timestampSeconds: Number(headers['webhook-timestamp']), body };
      expect(headers['webhook-signature']).toBe(signedHeaders(message, ...secrets)['webhook-signature']);
      return headers['webhook-signature'];
    };
    expect(await rotate.plan(ann, first.id, 2)).toMatchObject({ steps: [{ name: 'rotate webhook' }] });
    expect(store.get(first.id)?.secret).toBe(first.secret);
    const second = await rotate.run(ann, first.id, 2, ann);
    expect(second.secret).not.toBe(first.secret);
    await signatures(second.secret, first.secret);
    clock.advance(2 * 60 * 60_000 - 1);
    await signatures(second.secret, first.secret);
    clock.advance(1);
    await signatures(second.secret);
    // The second of two rotations ends the overlap of the first.
    const third = await rotate.run(ann, first.id, 24, ann);
    const fourth = await rotate.run(ann, first.id, 24, ann);
    await signatures(fourth.secret, third.secret);
    const last = await rotate.run(ann, first.id, 0, ann);
    await signatures(last.secret);
    expect(log.entries.map(({ message }) => message)).toContain('next to the former one for 2 hours');
    expect(JSON.stringify(log.entries)).not.toContain('whsec_');
    await expect(rotate.run(ann, 'none', 1, ann)).rejects.toMatchObject({ code: 'WEBHOOK_NOT_FOUND' });
  });

  test('keep their position and their next attempt over a rotation, and are not created by one', async () => {
    const { sender, add, end, rotate, remove, store } = setUp();
    const { id } = await add();
    sender.answer = async () => 500;
    await end(1);
    const before = store.get(id);
    await rotate.run(ann, id, 1, ann);
    expect(store.get(id)).toMatchObject({
      position: before?.position,
      attempts: 1,
      nextAttemptAt: before?.nextAttemptAt,
    });
    await Promise.all([remove.run(ann, id, ann), rotate.run(ann, id, 1, ann).catch(() => undefined)]);
    expect(store.all()).toEqual([]);
  });

  test('receive the events that they are for, from their creation on', async () => {
    const { clock, sender, store, dispatcher, add, end } = setUp();
    await end(0);
    expect(store.bounds().newest).toBe(0);
    await add('a');
    await end(1);
    await add('b', ['instance.changed', 'instance.removed']);
    await end(2);
    dispatcher.publish({ key: 'vm/a', type: 'instance.changed', data: { state: 1 }, about: NOTHING });
    dispatcher.publish({ key: 'vm/a', type: 'instance.changed', data: { state: 2 }, about: NOTHING });
    dispatcher.publish({ key: 'vm/b', type: 'instance.removed', data: {}, about: NOTHING });
    clock.advance(1000);
    await settle();
    // Only the latest state of an instance that changes often.
    expect(sender.sent.map(({ body }) => (JSON.parse(body) as { data: object }).data)).toEqual([
      { id: 1 },
      { id: 2 },
      { state: 2 },
      {},
    ]);
  });

  test('try again with the same ID and longer pauses, and keep the order', async () => {
    const { clock, store, sender, add, end } = setUp();
    const { id } = await add();
    sender.answer = async () => 500;
    await end(1);
    await end(2);
    expect(sender.ids).toEqual(['1']);
    expect(store.get(id)).toMatchObject({
      attempts: 1,
      lastError: 'The receiver answered with status 500.',
      disabled: false,
    });
    clock.advance(RETRY_DELAYS_MS[0]! - 1);
    await settle();
    expect(sender.ids).toEqual(['1']);
    clock.advance(1);
    await settle();
    expect(sender.ids).toEqual(['1', '1']);
    sender.answer = async () => 204;
    clock.advance(RETRY_DELAYS_MS[1]!);
    await settle();
    expect(sender.ids).toEqual(['1', '1', '1', '2']);
    expect(store.get(id)).toMatchObject({
      attempts: 0,
      lastError: '',
      nextAttemptAt: null,
      lastDeliveredAt: clock.iso(),
    });
  });

  test('are disabled with the reason when every attempt has failed, and deliver everything after a replay', async () => {
    const { clock, store, sender, replay, add, end } = setUp();
    const { id } = await add();
    sender.answer = () => Promise.reject(new Error('connect ECONNREFUSED'));
    await end(1);
    for (const delayMs of RETRY_DELAYS_MS) {
      expect(store.get(id)?.disabled).toBe(false);
      clock.advance(delayMs);
      await settle();
    }
    expect(store.get(id)).toMatchObject({ disabled: true, lastError: 'connect ECONNREFUSED' });
    const attempts = sender.sent.length;
    await end(2);
    clock.advance(24 * 60 * 60_000);
    await settle();
    expect([sender.sent.length, attempts, clock.pending]).toEqual([attempts, RETRY_DELAYS_MS.length + 1, 0]);
    sender.answer = async () => 200;
    await replay.run(ann, id, undefined, ann);
    await settle();
    expect(sender.ids.slice(attempts)).toEqual(['1', '2']);
    expect(store.get(id)?.disabled).toBe(false);
  });

  test('are disabled immediately by a receiver that is gone', async () => {
    const { store, sender, add, end } = setUp();
    const { id } = await add();
    sender.answer = async () => 410;
    await end(1);
    expect(store.get(id)).toMatchObject({ disabled: true, attempts: 1 });
  });

  test('replay the events since a time, with the IDs of the first delivery', async () => {
    const { clock, sender, replay, add, end } = setUp();
    const { id } = await add();
    for (const task of [1, 2, 3]) {
      await end(task);
      clock.advance(60_000);
    }
    await replay.run(ann, id, '2026-01-01T00:01:00.000Z', ann);
    await settle();
    expect(sender.ids).toEqual(['1', '2', '3', '2', '3']);
    await expect(replay.run(ann, '000000000000', undefined, ann)).rejects.toMatchObject({ code: 'WEBHOOK_NOT_FOUND' });
  });

  test('continue after a restart of the service, with the event that was not delivered', async () => {
    const first = setUp();
    await first.add();
    let isAborted = false;
    first.sender.answer = ({ signal }) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          isAborted = true;
          reject(new Error('aborted'));
        }),
      );
    await first.end(1);
    first.dispatcher.close();
    await settle();
    expect(isAborted).toBe(true);
    // Tasks that the stop of the service ends.
    await first.end(2);
    const second = setUp(first.store);
    second.dispatcher.start();
    await settle();
    expect([first.sender.ids, second.sender.ids]).toEqual([['1'], ['1', '2']]);
    expect(first.clock.pending).toBe(0);
  });

  test('do not wait for each other', async () => {
    const { sender, store, add, end } = setUp();
    await add('slow');
    await add('fast');
    const [slow] = store.all().filter(({ name }) => name === 'slow');
    sender.answer = ({ headers }) =>
      headers['webhook-id']?.includes(slow!.id) ? new Promise<number>(() => undefined) : Promise.resolve(200);
    for (const id of [1, 2, 3]) await end(id);
    const fast = store.all().find(({ name }) => name === 'fast');
    expect([fast?.position, store.get(slow!.id)?.position]).toEqual([3, 0]);
    expect(sender.sent).toHaveLength(4);
  });

  test('count the events that were dropped while a receiver was away', async () => {
    const { clock, store, sender, add, end } = setUp(new MemoryWebhookStore(2));
    const { id } = await add();
    sender.answer = async () => 503;
    for (const task of [1, 2, 3, 4]) await end(task);
    sender.answer = async () => 200;
    clock.advance(RETRY_DELAYS_MS[0]!);
    await settle();
    expect([sender.ids, store.get(id)?.missed]).toEqual([['1', '3', '4'], 2]);
  });

  test('do not fail a task whose event could not be stored, and store it later', async () => {
    const { clock, store, sender, add, end } = setUp();
    await add();
    const append = store.append.bind(store);
    store.append = () => Promise.reject(new Error('database or disk is full'));
    await end(1);
    await end(2);
    expect(sender.sent).toEqual([]);
    store.append = append;
    clock.advance(10_000);
    await settle();
    expect(sender.sent.map(({ body }) => (JSON.parse(body) as { data: object }).data)).toEqual([{ id: 1 }, { id: 2 }]);
    expect(clock.pending).toBe(0);
  });

  test('that are deleted receive nothing more', async () => {
    const { clock, sender, store, remove, add, end } = setUp();
    const { id } = await add();
    sender.answer = async () => 500;
    await end(1);
    await remove.run(ann, id, ann);
    clock.advance(RETRY_DELAYS_MS[0]!);
    await end(2);
    expect([sender.sent.length, store.all(), clock.pending]).toEqual([1, [], 0]);
    await expect(remove.run(ann, id, ann)).rejects.toMatchObject({ code: 'WEBHOOK_NOT_FOUND' });
  });

  test('have names of their own, and a limited number', async () => {
    const { add } = setUp();
    await add();
    await expect(add()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    for (let index = 1; index < MAX_WEBHOOKS_PER_CREATOR; index++) await add(`hook-${index}`);
    await expect(add('more')).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('are in the audit log without their secret and the query of their URL', async () => {
    const { log, replay, remove, add } = setUp();
    const { id, secret } = await add();
    await replay.run(ann, id, undefined, ann);
    await remove.run(ann, id, ann);
    expect(log.entries.map(({ action, caller }) => [action, caller])).toEqual([
      ['create webhook', 'ann'],
      ['replay webhook', 'ann'],
      ['delete webhook', 'ann'],
    ]);
    const text = JSON.stringify(log.entries);
    expect(text).not.toContain(secret);
    expect(text).not.toContain('hidden');
  });

  test('are not changed by a dry run', async () => {
    const { sender, store, create, replay, remove, add, end } = setUp();
    const { id } = await add();
    await end(1);
    await create.plan(ann, { name: 'b', url: URL_A, events: ['task.ended'] });
    await remove.plan(ann, id);
    await replay.plan(ann, id, '2026-01-01T00:00:00.000Z');
    await settle();
    expect([store.all().length, sender.sent.length]).toEqual([1, 1]);
  });
});

describe('webhooks of several replicas', () => {
  const dataOf = (sender: FakeSender): unknown[] =>
    sender.sent.map(({ body }) => (JSON.parse(body) as { data: unknown }).data);

  /** Two replicas, of which the first is the leader. Both see every change of the fleet and the end of every task. */
  function setUpTwo() {
    const store = new MemoryWebhookStore();
    const clock = new FixedClock();
    const replicas = [new ManualReplica(), new ManualReplica()] as const;
    const [a, b] = [setUp(store, replicas[0], clock), setUp(store, replicas[1], clock)];
    for (const { dispatcher } of [a, b]) dispatcher.start();
    replicas[0].elect();
    const both = async (key: string, type: WebhookEventType, data: object): Promise<void> => {
      for (const { dispatcher } of [b, a]) dispatcher.publish({ key: key, type: type, data: data, about: NOTHING });
      await settle();
    };
    return { store, clock, replicas, a, b, both };
  }

  test('are delivered by the leader only, each event once, whichever replica created them', async () => {
    const { clock, a, b, both } = setUpTwo();
    await b.add('b', ['task.ended', 'instance.changed']);
    await both('task/1', 'task.ended', { id: 1 });
    await both('vm/a', 'instance.changed', { state: 1 });
    clock.advance(1000);
    await settle();
    expect([dataOf(a.sender), b.sender.sent]).toEqual([[{ id: 1 }, { state: 1 }], []]);
  });

  test('receive what the former leader did not store, and nothing that it did', async () => {
    const { clock, replicas, a, b, both } = setUpTwo();
    await a.add('a', ['task.ended', 'instance.changed']);
    await both('task/1', 'task.ended', { id: 1 });
    // The leader is killed within the second in which it collects changes.
    await both('vm/a', 'instance.changed', { state: 1 });
    replicas[0].depose();
    b.dispatcher.publish({ key: 'task/2', type: 'task.ended', data: { id: 2 }, about: NOTHING });
    clock.advance(17_000);
    replicas[1].elect();
    await settle();
    expect([dataOf(a.sender), dataOf(b.sender)]).toEqual([[{ id: 1 }], [{ state: 1 }, { id: 2 }]]);
    expect(a.sender.ids.concat(b.sender.ids)).toEqual(['1', '2', '3']);
  });

  test('are not sent what a replica remembers from long before', async () => {
    const { clock, replicas, a, b } = setUpTwo();
    await a.add();
    b.dispatcher.publish({ key: 'task/1', type: 'task.ended', data: { id: 1 }, about: NOTHING });
    clock.advance(121_000);
    replicas[0].depose();
    replicas[1].elect();
    await settle();
    expect(b.sender.sent).toEqual([]);
  });

  test('are continued by the next leader, with the event that was not accepted, and its pause', async () => {
    const { clock, store, replicas, a, b, both } = setUpTwo();
    const { id } = await a.add();
    a.sender.answer = async () => 500;
    await both('task/1', 'task.ended', { id: 1 });
    expect(store.get(id)).toMatchObject({ attempts: 1 });
    replicas[0].depose();
    expect(clock.pending).toBe(0);
    replicas[1].elect();
    await settle();
    expect(b.sender.sent).toEqual([]);
    clock.advance(RETRY_DELAYS_MS[0]!);
    await settle();
    expect([a.sender.ids, b.sender.ids]).toEqual([['1'], ['1']]);
    expect(store.get(id)).toMatchObject({ attempts: 0, position: 1 });
  });

  test('are not changed by a former leader whose request ends later', async () => {
    const { store, replicas, a, b, both } = setUpTwo();
    const { id } = await a.add();
    const answer = Promise.withResolvers<number>();
    a.sender.answer = () => answer.promise;
    await both('task/1', 'task.ended', { id: 1 });
    replicas[0].depose();
    replicas[1].elect();
    await settle();
    expect(store.get(id)).toMatchObject({ position: 1, attempts: 0 });
    answer.resolve(500);
    await settle();
    expect([store.get(id)?.attempts, b.sender.ids]).toEqual([0, ['1']]);
    // It delivers again when it is elected again.
    a.sender.answer = async () => 200;
    replicas[1].depose();
    replicas[0].elect();
    await both('task/2', 'task.ended', { id: 2 });
    expect([a.sender.ids, b.sender.ids]).toEqual([['1', '2'], ['1']]);
  });

  test('are sent again with the same ID when the leader is killed between a delivery and the write of the position', async () => {
    const { store, replicas, a, b, both } = setUpTwo();
    const { id } = await a.add();
    const update = store.update.bind(store);
    store.update = () => new Promise(() => undefined);
    await both('task/1', 'task.ended', { id: 1 });
    replicas[0].depose();
    store.update = update;
    replicas[1].elect();
    await settle();
    await both('task/2', 'task.ended', { id: 2 });
    expect([a.sender.ids, b.sender.ids]).toEqual([['1'], ['1', '2']]);
    expect(b.sender.sent[0]?.headers['webhook-id']).toBe(a.sender.sent[0]?.headers['webhook-id']);
    expect(store.get(id)).toMatchObject({ position: 2 });
  });

  test('receive nothing more when another replica deletes them during a delivery, and do not come back', async () => {
    const { store, a, b, both } = setUpTwo();
    const { id } = await a.add();
    const answer = Promise.withResolvers<number>();
    a.sender.answer = () => answer.promise;
    await both('task/1', 'task.ended', { id: 1 });
    await both('task/2', 'task.ended', { id: 2 });
    await b.remove.run(ann, id, ann);
    answer.resolve(200);
    await settle();
    expect([a.sender.ids, store.all()]).toEqual([['1'], []]);
  });

  test('do not wait for the clock of a former leader, which was ahead', async () => {
    const { clock, store, replicas, a, b, both } = setUpTwo();
    const { id } = await a.add();
    a.sender.answer = async () => 500;
    await both('task/1', 'task.ended', { id: 1 });
    replicas[0].depose();
    const HOUR_MS = 3_600_000;
    const ahead = new Date(clock.now() + HOUR_MS).toISOString();
    await store.update(id, (webhook) => ({ ...webhook, nextAttemptAt: ahead }));
    b.sender.answer = async () => 500;
    replicas[1].elect();
    await settle();
    expect([b.sender.ids, store.get(id)?.attempts]).toEqual([['1'], 2]);
    // From here on, the pauses are those of its own clock.
    b.sender.answer = async () => 200;
    clock.advance(RETRY_DELAYS_MS[1]!);
    await settle();
    expect([b.sender.ids, store.get(id)?.position]).toEqual([['1', '1'], 1]);
  });

  test('are replayed by the leader when another replica is asked', async () => {
    const { a, b, both } = setUpTwo();
    const { id } = await a.add();
    await both('task/1', 'task.ended', { id: 1 });
    await b.replay.run(ann, id, '2026-01-01T00:00:00.000Z', ann);
    await settle();
    expect([a.sender.ids, b.sender.ids]).toEqual([['1', '1'], []]);
  });
});
