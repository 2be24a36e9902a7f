import type {
  MessageChannel,
  MessageChannelStore,
  MessageRule,
  MessageRuleStore,
  OwnedObject,
  OwnedStore,
  SavedView,
  SavedViewStore,
  Schedule,
  ScheduledSnapshots,
  ScheduledSnapshotStore,
  ScheduleStore,
  SshKey,
  SshKeyStore,
} from '@headgate/domain-contracts';

export interface OwnedStoreHarness<Store> {
  readonly store: Store;
  /** The same storage after a restart, or another replica. */
  reopen(): Store | Promise<Store>;
  close(): void | Promise<void>;
}

type OpenStore<Store> = () => OwnedStoreHarness<Store> | Promise<OwnedStoreHarness<Store>>;

/** An object of a kind. Those with lower places are first. */
type Build<T> = (owner: string, id: string, place?: number) => T;

const sshKey: Build<SshKey> = (owner, id, place = 0) => ({
  owner,
  id: id.repeat(64),
  name: `key-${place}`,
  key: `ssh-ed25519 AAAA${id}`,
  addedAt: '2026-01-02T00:00:00.000Z',
});

const savedView: Build<SavedView> = (owner, id, place = 0) => ({
  owner,
  id: id.repeat(32),
  name: `View ${id} "ü"`,
  address: `/vms?q=${id}%20status%3Arunning`,
  columns: place === 0 ? null : ['name', 'folder'],
  rank: place,
  savedAt: '2026-01-02T00:00:00.000Z',
});

const schedule: Build<Schedule> = (owner, id, place = 0) => ({
  owner,
  id: id.repeat(32),
  ...(place === 0 ? {} : { token: 'abc' }),
  name: `Schedule ${place} "ü"`,
  enabled: place !== 0,
  cron: '30 2 * * 1-5',
  timeZone: 'Europe/Berlin',
  jitterSeconds: place,
  missed: 'once',
  job: { kind: 'bulk', params: { action: 'snapshot', query: { q: 'web', folder: 'prod' }, keep: 3 } },
  createdAt: '2026-01-02T00:00:00.000Z',
  changedAt: '2026-01-02T00:00:00.000Z',
  after: '2026-01-02T00:00:00.000Z',
  runs: [
    {
      id: 'run',
      planned: '2026-01-02T00:00:00.000Z',
      trigger: 'time',
      status: 'running',
      task: 'bulk-start-1',
      recordedAt: '2026-01-02T00:00:00.010Z',
    },
  ],
});

const scheduledSnapshots: Build<ScheduledSnapshots> = (owner, id, place = 0) => ({
  owner,
  id: `vm/lab/default/${id}`,
  uid: `uid-${place}`,
  snapshots: [{ name: 'one', creationTime: '2026-01-02T00:00:00.000Z' }, { name: 'two' }],
});

const messageChannel: Build<MessageChannel> = (owner, id, place = 0) => ({
  owner,
  id: id.repeat(32),
  name: `Channel ${place} "ü"`,
  shared: place !== 0,
  target: {
    kind: 'mail',
    host: 'mail.example.org',
    port: 587,
    security: 'starttls',
    user: 'headgate',
    password: 'a secret "ü"',
    from: 'headgate@example.org',
    recipients: ['ann@example.org'],
  },
  createdAt: '2026-01-02T00:00:00.000Z',
  changedAt: '2026-01-02T00:00:00.000Z',
});

const messageRule: Build<MessageRule> = (owner, id, place = 0) => ({
  owner,
  id: id.repeat(32),
  ...(place === 0 ? {} : { token: 'abc', folder: 'prod', q: 'web', quietHours: { from: '22:00', to: '06:00' } }),
  name: `Rule ${place} "ü"`,
  enabled: place !== 0,
  channel: 'channel',
  minSeverity: 'warning',
  kinds: ['problem.began', 'task.failed'],
  delivery: 'immediately',
  digestAt: '07:30',
  timeZone: 'Europe/Berlin',
  createdAt: '2026-01-02T00:00:00.000Z',
  changedAt: '2026-01-02T00:00:00.000Z',
  state: {
    sources: ['contexts'],
    open: [{ key: 'k', kind: 'context', severity: 'error', title: 'lab', since: '2026-01-02T00:00:00.000Z' }],
    endedUntil: '2026-01-02T00:00:00.000Z',
    considered: [{ id: 'task', endedAt: '2026-01-02T00:00:00.000Z' }],
    digestAfter: '2026-01-02T00:00:00.000Z',
    pending: null,
    messages: [],
  },
});

/** The rules for every store of the objects of users. */
function ownedStoreContract<T extends OwnedObject>(
  title: string,
  open: OpenStore<OwnedStore<T>>,
  build: Build<T>,
): void {
  describe(title, () => {
    let harness: OwnedStoreHarness<OwnedStore<T>>;

    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness?.close());

    test('keeps the objects of each owner, in their order', async () => {
      const { store } = harness;
      const [first, second] = [build('ann', 'b', 1), build('ann', 'a', 2)];
      for (const one of [second, first, build('', 'a'), build('bob/x', 'a')]) await store.put(one);
      const again = await harness.reopen();
      expect(again.of('ann')).toEqual([first, second]);
      expect([again.of(''), again.of('bob/x'), again.of('eve')]).toEqual([[build('', 'a')], [build('bob/x', 'a')], []]);
      expect(again.count()).toBe(4);
    });

    test('has an object of one owner once', async () => {
      await harness.store.put(build('ann', 'a', 1));
      await harness.store.put(build('ann', 'a', 2));
      expect(harness.store.of('ann')).toEqual([build('ann', 'a', 2)]);
      expect((await harness.reopen()).of('ann')).toEqual([build('ann', 'a', 2)]);
    });

    test('deletes one object of one owner, and reports whether it existed', async () => {
      const { store } = harness;
      for (const owner of ['ann', 'bob']) await store.put(build(owner, 'a'));
      const { id } = build('', 'a');
      expect([await store.delete('ann', id), await store.delete('ann', id)]).toEqual([true, false]);
      const again = await harness.reopen();
      expect([again.of('ann').length, again.of('bob').length]).toEqual([0, 1]);
    });
  });
}

/** The rules for every `SshKeyStore`. */
export const sshKeyStoreContract = (adapter: string, open: OpenStore<SshKeyStore>): void =>
  ownedStoreContract(`SshKeyStore, ${adapter}`, open, sshKey);

/** The rules for every `SavedViewStore`. */
export const savedViewStoreContract = (adapter: string, open: OpenStore<SavedViewStore>): void =>
  ownedStoreContract(`SavedViewStore, ${adapter}`, open, savedView);

/** The rules for every `ScheduledSnapshotStore`. */
export const scheduledSnapshotStoreContract = (adapter: string, open: OpenStore<ScheduledSnapshotStore>): void =>
  ownedStoreContract(`ScheduledSnapshotStore, ${adapter}`, open, scheduledSnapshots);

interface ChangingStore<T extends OwnedObject> extends OwnedStore<T> {
  all(): readonly T[];
  change(owner: string, id: string, change: (stored: T) => T | undefined): Promise<T | undefined>;
}

/** The rules for every store of objects that change often. */
function changingStoreContract<T extends OwnedObject & { readonly name: string }>(
  title: string,
  open: OpenStore<ChangingStore<T>>,
  build: Build<T>,
): void {
  ownedStoreContract(title, open, build);

  describe(`the changes of a ${title}`, () => {
    let harness: OwnedStoreHarness<ChangingStore<T>>;

    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness?.close());

    test('all has the objects of every owner', async () => {
      const both = [build('bob', 'a', 1), build('ann', 'a', 2)];
      for (const one of both.toReversed()) await harness.store.put(one);
      expect(harness.store.all()).toEqual(both);
      expect((await harness.reopen()).all()).toEqual(both);
    });

    test('changes that meet are all carried out, one after the other', async () => {
      const { store } = harness;
      const { owner, id } = build('ann', 'a');
      await store.put({ ...build('ann', 'a'), name: 'x' });
      // A change is repeated when its answer was lost, and recognizes itself then.
      const add = (letter: string) =>
        store.change(owner, id, (one) => (one.name.includes(letter) ? undefined : { ...one, name: one.name + letter }));
      await Promise.all(['a', 'b', 'c', 'd', 'e'].map(add));
      const names = (from: typeof store) => from.of(owner).map(({ name }) => [...name].sort().join(''));
      expect(names(store)).toEqual(['abcdex']);
      expect(names(await harness.reopen())).toEqual(['abcdex']);
    });

    test('a change can leave an object as it is, and finds none that does not exist', async () => {
      const { store } = harness;
      const one = build('ann', 'a');
      await store.put(one);
      expect(await store.change('ann', one.id, () => undefined)).toEqual(one);
      const none = { ...one, name: 'none' };
      expect(await store.change('bob', one.id, () => none)).toBeUndefined();
      await store.delete('ann', one.id);
      expect(await store.change('ann', one.id, () => none)).toBeUndefined();
      expect((await harness.reopen()).all()).toEqual([]);
    });

    test('a change that throws changes nothing', async () => {
      const one = build('ann', 'a');
      await harness.store.put(one);
      const refuse = (): never => {
        throw new Error('no');
      };
      await expect(harness.store.change('ann', one.id, refuse)).rejects.toThrow('no');
      expect((await harness.reopen()).all()).toEqual([one]);
    });
  });
}

/** The rules for every `ScheduleStore`. */
export const scheduleStoreContract = (adapter: string, open: OpenStore<ScheduleStore>): void =>
  changingStoreContract(`ScheduleStore, ${adapter}`, open, schedule);

/** The rules for every `MessageChannelStore`. */
export const messageChannelStoreContract = (adapter: string, open: OpenStore<MessageChannelStore>): void =>
  changingStoreContract(`MessageChannelStore, ${adapter}`, open, messageChannel);

/** The rules for every `MessageRuleStore`. */
export const messageRuleStoreContract = (adapter: string, open: OpenStore<MessageRuleStore>): void =>
  changingStoreContract(`MessageRuleStore, ${adapter}`, open, messageRule);
