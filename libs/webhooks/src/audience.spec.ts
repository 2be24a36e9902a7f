import {
  Audit,
  DomainError,
  SILENT_LOG,
  SingleReplica,
  UniformGrant,
  type AccessAction,
  type AccessSubject,
  type Caller,
  type Grant,
  type WebhookEventType,
} from '@headgate/domain-contracts';
import { buildVm, FixedClock, MemoryAuditLog, MemoryWebhookStore } from '@headgate/testing';
import { ChangeWebhook } from './change-webhook.js';
import { FakeRights } from './testing/fake-rights.js';
import { ReplayWebhook, CreateWebhook, type CreateWebhookRequest } from './webhook-changes.js';
import { WebhookDispatcher } from './webhook-dispatcher.js';
import { WebhookSender, type WebhookMessage } from './webhook-sender.js';

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 80; turn++) await Promise.resolve();
};

class FakeSender extends WebhookSender {
  readonly sent: { readonly url: string; readonly type: string; readonly data: Record<string, unknown> }[] = [];
  status = 200;

  override check(): void {}

  override async send({ url, body }: WebhookMessage): Promise<number> {
    this.sent.push({ url, ...(JSON.parse(body) as { type: string; data: Record<string, unknown> }) });
    return this.status;
  }
}

/** A viewer of a folder. */
class FolderGrant extends UniformGrant {
  constructor(private readonly folder: string) {
    super('role', 'bob', ['read']);
  }

  override allows(action: AccessAction, { folder }: AccessSubject = { instance: buildVm() }): boolean {
    return action === 'read' && folder === this.folder;
  }

  override allowsAll(): boolean {
    return false;
  }
}

const NONE = new UniformGrant('role', 'bob', []);
const DATA_OF_ALL = ['instance.changed', 'instance.removed', 'task.ended'] as const;

describe('a webhook of a user with a role in a folder', () => {
  const clock = new FixedClock();
  let rights: FakeRights;
  let sender: FakeSender;
  let store: MemoryWebhookStore;
  let dispatcher: WebhookDispatcher;
  let create: (request?: Partial<CreateWebhookRequest>, login?: string) => Promise<string>;
  let change: ChangeWebhook;
  let replay: ReplayWebhook;

  const callerOf = (login: string): Caller => ({ login, name: login, grant: rights.grantOf(login) });
  const subject = (name: string, folder?: string, uid = `${name}-uid`): AccessSubject => ({
    instance: buildVm({ ref: { name }, uid }),
    ...(folder !== undefined && { folder }),
  });
  const refOf = (name: string): string => `vm/lab/default/${name}`;
  const grant = (login: string, to: Grant): void => void rights.grants.set(login, to);
  const publish = async (
    type: WebhookEventType,
    data: object,
    about: { instances: AccessSubject[]; before?: AccessSubject },
  ): Promise<void> => {
    dispatcher.publish({ key: JSON.stringify([type, data]), type, data, about });
    clock.advance(1000);
    await settle();
  };
  /** A change of an instance, which is in the fleet as it is then. */
  const changed = async (now: AccessSubject, before?: AccessSubject): Promise<void> => {
    rights.put(now);
    const { name } = now.instance.ref;
    const about = { instances: [now], ...(before && { before }) };
    await publish('instance.changed', { ref: refOf(name), name, folder: now.folder }, about);
  };
  const removed = async (was: AccessSubject): Promise<void> => {
    const ref = refOf(was.instance.ref.name);
    rights.instances.delete(ref);
    await publish('instance.removed', { ref }, { instances: [was] });
  };
  const received = (): unknown[] => sender.sent.map(({ type, data }) => [type, data['ref'] ?? data['id']]);

  beforeEach(() => {
    rights = new FakeRights();
    sender = new FakeSender();
    store = new MemoryWebhookStore();
    grant('bob', new FolderGrant('a'));
    dispatcher = new WebhookDispatcher({
      store,
      sender,
      rights,
      clock,
      log: SILENT_LOG,
      replicas: new SingleReplica(),
    });
    const deps = { store, dispatcher, sender, rights, clock, audit: new Audit(new MemoryAuditLog(), clock) };
    const creation = new CreateWebhook(deps);
    change = new ChangeWebhook(deps);
    replay = new ReplayWebhook(deps);
    create = async (request = {}, login = 'bob') =>
      (
        await creation.run(
          callerOf(login),
          { name: 'hook', url: `https://${login}.example.org/`, events: DATA_OF_ALL, ...request },
          callerOf(login),
        )
      ).id;
  });

  test('gets the events of the instances in the folder only, and an administrator all of them', async () => {
    await create();
    await create({}, 'ann');
    await changed(subject('web', 'a'));
    await changed(subject('db', 'b'));
    await changed(subject('loose'));
    const of = (login: string) => sender.sent.filter(({ url }) => url.includes(login)).map(({ data }) => data['name']);
    expect([of('bob'), of('ann')]).toEqual([['web'], ['web', 'db', 'loose']]);
  });

  test('gets an event only if its scope has the instance, too', async () => {
    await create({ scope: { q: 'web' } });
    await changed(subject('db', 'a'));
    await changed(subject('web', 'b'));
    await changed(subject('web-1', 'a'));
    expect(received()).toEqual([['instance.changed', refOf('web-1')]]);
  });

  test('of a scope that matches nothing costs no event in the log', async () => {
    await create({ scope: { q: 'nothing' } });
    await changed(subject('web', 'a'));
    await publish('task.ended', { id: 't', ref: refOf('web') }, { instances: [subject('web', 'a')] });
    expect([received(), store.bounds().newest]).toEqual([[], 0]);
  });

  test('gets the removal of an instance that moves out of the folder, with its old name and nothing else', async () => {
    await create();
    const before = subject('web', 'a');
    await changed(before);
    const { instance } = subject('renamed', undefined, 'web-uid');
    await changed({ instance, folder: 'secret' }, before);
    expect(received()).toEqual([
      ['instance.changed', refOf('web')],
      ['instance.removed', refOf('web')],
    ]);
    expect(sender.sent[1]?.data).toEqual({ ref: refOf('web') });
    // Later events there are not for it.
    await changed({ instance, folder: 'secret' }, { instance, folder: 'secret' });
    await removed({ instance, folder: 'secret' });
    expect(sender.sent).toHaveLength(2);
  });

  test('that is for removals only also gets those of instances that leave its view', async () => {
    await create({ events: ['instance.removed'] });
    await changed(subject('web', 'a'));
    await changed(subject('web', 'b'), subject('web', 'a'));
    await changed(subject('db', 'a'));
    await removed(subject('db', 'a'));
    expect(received()).toEqual([
      ['instance.removed', refOf('web')],
      ['instance.removed', refOf('db')],
    ]);
  });

  test('learns of two changes within a second that the instance has left its view', async () => {
    await create();
    const [a, b, c] = [subject('web', 'a'), subject('web', 'b'), subject('web', 'c')];
    rights.put(c);
    const key = 'web';
    const data = { ref: refOf('web'), folder: 'secret' };
    dispatcher.publish({ key, type: 'instance.changed', data, about: { instances: [b], before: a } });
    dispatcher.publish({ key, type: 'instance.changed', data, about: { instances: [c], before: b } });
    clock.advance(1000);
    await settle();
    expect(sender.sent.map(({ type, data: sent }) => [type, sent])).toEqual([
      ['instance.removed', { ref: refOf('web') }],
    ]);
  });

  test('gets no event about an instance that has left the folder between the event and the delivery', async () => {
    const id = await create();
    sender.status = 500;
    await changed(subject('web', 'a'));
    expect(sender.sent).toHaveLength(1);
    rights.put(subject('web', 'b'));
    sender.status = 200;
    clock.advance(60 * 60_000);
    await settle();
    expect([sender.sent.length, store.get(id)]).toEqual([
      1,
      expect.objectContaining({ attempts: 0, lastError: '', disabled: false }),
    ]);
    expect(clock.pending).toBe(0);
  });

  test('is paused when its creator loses every role, sends nothing more, and goes on after a replay', async () => {
    const id = await create();
    sender.status = 500;
    await changed(subject('web', 'a'));
    grant('bob', NONE);
    sender.status = 200;
    clock.advance(60 * 60_000);
    await settle();
    expect([sender.sent.length, store.get(id)?.paused]).toEqual([1, expect.stringContaining('bob has no right')]);
    await changed(subject('web', 'a'));
    // A replay without the rights changes nothing.
    await replay.run(callerOf('bob'), id, '2026-01-01T00:00:00.000Z', callerOf('bob'));
    await settle();
    expect([sender.sent.length, store.get(id)?.paused]).toEqual([1, expect.any(String)]);
    grant('bob', new FolderGrant('a'));
    await replay.run(callerOf('bob'), id, undefined, callerOf('bob'));
    await settle();
    // The event from before, and none from while bob had no rights.
    expect([sender.sent.length, store.get(id)?.paused]).toEqual([2, undefined]);
    expect(clock.pending).toBe(0);
  });

  test('does not get later what its creator could not see when it happened', async () => {
    const id = await create();
    await create({}, 'ann');
    await changed(subject('db', 'b'));
    await removed(subject('old', 'b'));
    sender.sent.length = 0;
    grant('bob', new FolderGrant('b'));
    await replay.run(callerOf('bob'), id, '2026-01-01T00:00:00.000Z', callerOf('bob'));
    await settle();
    expect(sender.sent).toEqual([]);
    await changed(subject('db', 'b'));
    expect(received()).toContainEqual(['instance.changed', refOf('db')]);
  });

  test('does not get the events of another instance with the name of one that it sees', async () => {
    await create();
    rights.put(subject('web', 'a'));
    await removed(subject('web', 'secret', 'former-uid'));
    rights.put(subject('web', 'a'));
    await publish('task.ended', { id: 't', ref: refOf('web') }, { instances: [subject('web', 'secret', 'former')] });
    expect(sender.sent).toEqual([]);
  });

  test('gets a bulk task with the members that it sees only, also those that are gone', async () => {
    await create();
    await create({}, 'ann');
    rights.put(subject('web', 'a'));
    rights.put(subject('db', 'secret'));
    rights.put(subject('again', 'a', 'new-uid'));
    const members = [
      { ref: refOf('web'), uid: 'web-uid', status: 'done' },
      { ref: refOf('db'), uid: 'db-uid', status: 'error', error: 'The disk of db is full.' },
      { ref: refOf('gone'), uid: 'gone-uid', status: 'done' },
      { ref: refOf('hidden'), uid: 'hidden-uid', status: 'done' },
      { ref: refOf('again'), uid: 'old-uid', status: 'done' },
    ];
    const data = { id: 'bulk-1', kind: 'bulk', status: 'error', error: '1 of 5 failed.', ref: '', members };
    await publish('task.ended', data, { instances: [subject('gone', 'a'), subject('hidden', 'b')] });
    const sent = sender.sent.find(({ url }) => url.includes('bob'));
    expect(sent?.data).toEqual({
      ...data,
      status: 'done',
      error: '',
      members: [members[0], members[2]],
    });
    expect(JSON.stringify(sent)).not.toMatch(/db|hidden|again|full/);
    expect(sender.sent.find(({ url }) => url.includes('ann'))?.data).toEqual(data);
  });

  test.each([
    ['an image', { id: 't', ref: 'image/lab/debian' }],
    ['the service', { id: 't', ref: '' }],
    ['hidden members only', { id: 't', ref: '', members: [{ ref: refOf('db'), status: 'done' }] }],
    ['no member', { id: 't', ref: '', members: [] }],
    ['an unknown instance', { id: 't', ref: refOf('__proto__') }],
  ])('gets no task about %s', async (_what, data) => {
    await create();
    rights.put(subject('db', 'b'));
    await publish('task.ended', data, { instances: [] });
    expect(sender.sent).toEqual([]);
  });

  test('sees instances of odd names as any others', async () => {
    await create();
    for (const name of ['__proto__', 'constructor', '"},"data":{', 'a/b', '☃', ' '])
      await changed({ instance: buildVm({ ref: { name }, uid: name }), folder: name === 'a/b' ? 'b' : 'a' });
    expect(sender.sent.map(({ data }) => data['name'])).toEqual(['__proto__', 'constructor', '"},"data":{', '☃', ' ']);
  });

  test('keeps its events while the roles can not be read, and reveals none', async () => {
    await create();
    rights.failure = new DomainError('NOT_READY', 'The roles are not known yet.');
    rights.put(subject('web', 'a'));
    await publish('instance.changed', { ref: refOf('web') }, { instances: [subject('web', 'a')] });
    expect(sender.sent).toEqual([]);
    rights.failure = undefined;
    clock.advance(10_000);
    await settle();
    await changed(subject('db', 'a'));
    expect(received()).toEqual([['instance.changed', refOf('db')]]);
  });

  test('keeps both of two changes at once, of its scope and of its events', async () => {
    const id = await create();
    const bob = callerOf('bob');
    await Promise.all([
      change.run(bob, id, { scope: { q: 'web' } }, bob),
      change.run(bob, id, { events: ['task.ended'] }, bob),
    ]);
    expect(store.get(id)).toMatchObject({ scope: { q: 'web' }, events: ['task.ended'] });
    await expect(change.run(bob, id, {}, bob)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    const eve = callerOf('eve');
    grant('eve', new FolderGrant('a'));
    await expect(change.run({ ...eve, grant: rights.grantOf('eve') }, id, { scope: {} }, eve)).rejects.toMatchObject({
      code: 'WEBHOOK_NOT_FOUND',
    });
  });

  test('with a smaller scope gets no event that waits and is outside of it', async () => {
    const id = await create();
    sender.status = 500;
    await changed(subject('db', 'a'));
    await changed(subject('web', 'a'));
    sender.status = 200;
    await change.run(callerOf('bob'), id, { scope: { q: 'web' } }, callerOf('bob'));
    clock.advance(60 * 60_000);
    await settle();
    expect(received()).toEqual([
      ['instance.changed', refOf('db')],
      ['instance.changed', refOf('web')],
    ]);
  });

  test('is refused to API tokens, users without rights or a login, and those whose rights come from a group', async () => {
    const creation = new CreateWebhook({
      store,
      dispatcher,
      sender,
      rights,
      clock,
      audit: new Audit(new MemoryAuditLog(), clock),
    });
    const request = { name: 'x', url: 'https://x.example.org/', events: DATA_OF_ALL };
    grant('eve', NONE);
    grant('', new UniformGrant('reader', 'a caller without a login', ['read']));
    for (const caller of [
      { ...callerOf('bob'), token: 'abcdefghij' },
      callerOf('eve'),
      callerOf(''),
      { ...callerOf('eve'), grant: new FolderGrant('a') },
    ])
      await expect(creation.run(caller, request, caller)).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
    expect(store.all()).toEqual([]);
  });

  test('skips many events of others without losing its own', async () => {
    const id = await create({ scope: { q: 'web' } });
    await create({}, 'ann');
    for (let index = 0; index < 250; index++) {
      rights.put(subject(`db-${index}`, 'b'));
      dispatcher.publish({
        key: `${index}`,
        type: 'instance.changed',
        data: { ref: refOf(`db-${index}`) },
        about: { instances: [subject(`db-${index}`, 'b')] },
      });
    }
    await changed(subject('web', 'a'));
    for (let turn = 0; turn < 60; turn++) await settle();
    expect(sender.sent.filter(({ url }) => url.includes('bob'))).toHaveLength(1);
    expect(store.get(id)?.position).toBe(251);
  });
});
