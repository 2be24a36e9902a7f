import {
  DomainError,
  formatRef,
  InstanceInventory,
  type Backend,
  type Instance,
  type InventoryListener,
} from '@headgate/domain-contracts';
import { buildContainer, buildVm, FixedClock } from '@headgate/testing';
import type { FleetEntry, FleetEvent } from './fleet-entry.js';
import { Fleet } from './fleet.js';

const present = ({ instance, stale }: FleetEntry): unknown => ({ ref: formatRef(instance.ref), stale });

/** A backend whose inventory the test drives. */
class ScriptedBackend {
  listener!: InventoryListener;
  stopped = false;
  readonly backend: Backend;

  constructor(context: string) {
    const inventory = {
      watch: (listener: InventoryListener) => {
        this.listener = listener;
        return { stop: () => this.stop() };
      },
    } as unknown as InstanceInventory;
    this.backend = { context, kind: 'kubevirt', ability: () => inventory } as unknown as Backend;
  }

  stop = async (): Promise<void> => void (this.stopped = true);

  list(...instances: Instance[]): void {
    this.listener.listed(instances);
  }
}

const unreachable = new DomainError('BACKEND_UNREACHABLE', 'lab does not answer.');
const query = { kind: 'vm', namespace: 'default', name: 'web' } as const;

describe('Fleet', () => {
  let clock: FixedClock;
  let fleet: Fleet;
  let lab: ScriptedBackend;
  let prod: ScriptedBackend;
  let events: FleetEvent[];

  beforeEach(() => {
    clock = new FixedClock(0);
    fleet = new Fleet({ clock, present });
    lab = new ScriptedBackend('lab');
    prod = new ScriptedBackend('prod');
    fleet.attach(lab.backend);
    fleet.attach(prod.backend);
    events = [];
    fleet.subscribe((event) => events.push(event));
  });

  const refs = (): string[] =>
    (JSON.parse(Buffer.concat(fleet.list('vm').json).toString()) as { ref: string }[]).map(({ ref }) => ref);

  test('orders the list by context, namespace and name, and keeps containers apart', () => {
    prod.list(buildVm({ ref: { context: 'prod' } }));
    lab.list(
      buildVm({ ref: { namespace: 'b', name: 'a' } }),
      buildVm({ ref: { namespace: 'a-x', name: 'a' } }),
      buildVm({ ref: { namespace: 'a', name: 'z' } }),
      buildContainer(),
    );
    expect(refs()).toEqual(['vm/lab/a/z', 'vm/lab/a-x/a', 'vm/lab/b/a', 'vm/prod/default/web']);
    expect(fleet.count('ct')).toBe(1);
  });

  test('drops the instances of a detached context at once, and takes no late change of it', async () => {
    lab.list(buildVm(), buildContainer());
    prod.list(buildVm({ ref: { context: 'prod' } }));
    events.length = 0;
    const detached = fleet.detach('lab');
    lab.listener.changed(buildVm({ ref: { name: 'late' } }));
    lab.listener.lost(unreachable);
    expect(refs()).toEqual(['vm/prod/default/web']);
    await detached;
    expect(lab.stopped).toBe(true);
    expect(fleet.states().map(({ context }) => context)).toEqual(['prod']);
    expect(events).toEqual([
      { type: 'removed', instance: expect.objectContaining({ uid: 'uid-1' }), isDetached: true },
      { type: 'removed', instance: expect.anything(), isDetached: true },
      { type: 'status', state: { context: 'lab', kind: 'kubevirt', state: 'detached' } },
    ]);
    await fleet.detach('lab');
    fleet.attach(lab.backend);
    lab.list(buildVm());
    expect(refs()).toEqual(['vm/lab/default/web', 'vm/prod/default/web']);
  });

  describe('a context whose backend is replaced', () => {
    let next: ScriptedBackend;
    let closing: PromiseWithResolvers<void>;
    const replace = (isAnother = false): Promise<void> =>
      fleet.replace(next.backend, { isAnother, whenStopped: () => closing.promise });
    const stale = (): boolean[] => [...fleet.all('vm')].map((entry) => entry.stale);
    const stateOfLab = () => fleet.states().find(({ context }) => context === 'lab');

    beforeEach(() => {
      next = new ScriptedBackend('lab');
      closing = Promise.withResolvers();
      prod.list();
    });

    test('keeps its instances as stale until the new one has listed, and takes no late change of the former', async () => {
      lab.list(buildVm());
      events.length = 0;
      const replaced = replace();
      // In the same turn, so that no request uses them with the new backend.
      expect(stateOfLab()).toMatchObject({ state: 'lost', reason: expect.stringContaining('not listed again yet') });
      expect(stale()).toEqual([true]);
      expect(events.at(-1)).toEqual({ type: 'status', state: stateOfLab(), isReplaced: true });
      lab.listener.changed(buildVm({ ref: { name: 'late' } }));
      lab.listener.removed(buildVm().ref);
      lab.list();
      expect(refs()).toEqual(['vm/lab/default/web']);
      await Promise.resolve();
      expect([lab.stopped, next.listener]).toEqual([true, undefined]);
      closing.resolve();
      await replaced;
      expect(stale()).toEqual([true]);
      next.list(buildVm());
      expect([stale(), stateOfLab()]).toEqual([[false], { context: 'lab', kind: 'kubevirt', state: 'up' }]);
      expect(fleet.states().map(({ context }) => context)).toEqual(['lab', 'prod']);
    });

    test('does not claim that an instance was deleted which only the former one has listed', async () => {
      lab.list(buildVm({ ref: { name: 'a' } }), buildVm({ ref: { name: 'b' } }));
      closing.resolve();
      await replace();
      events.length = 0;
      next.list(buildVm({ ref: { name: 'b' } }), buildVm({ ref: { name: 'c' } }));
      const removals = () => events.filter(({ type }) => type === 'removed');
      expect(removals()).toEqual([
        {
          type: 'removed',
          instance: expect.objectContaining({ ref: buildVm({ ref: { name: 'a' } }).ref }),
          isDetached: true,
        },
      ]);
      expect(refs()).toEqual(['vm/lab/default/b', 'vm/lab/default/c']);
      next.list(buildVm({ ref: { name: 'c' } }));
      next.listener.removed(buildVm({ ref: { name: 'c' } }).ref);
      expect(removals().slice(1)).toEqual([
        { type: 'removed', instance: expect.anything() },
        { type: 'removed', instance: expect.anything() },
      ]);
    });

    test('shows another object of a name that the new one lists', async () => {
      lab.list(buildVm({ uid: 'uid-former' }));
      closing.resolve();
      await replace();
      next.list(buildVm({ uid: 'uid-next' }));
      expect(fleet.resolve(query).uid).toBe('uid-next');
      expect(() => fleet.resolve({ ...query, uid: 'uid-former' })).toThrow('was replaced');
    });

    test('drops its instances at once if it leads to another engine, and leaves other contexts alone', async () => {
      lab.list(buildVm(), buildContainer());
      prod.list(buildVm({ ref: { context: 'prod' } }));
      events.length = 0;
      const replaced = replace(true);
      expect(refs()).toEqual(['vm/prod/default/web']);
      expect(fleet.count('ct')).toBe(0);
      expect(events.filter(({ type }) => type === 'removed')).toEqual([
        { type: 'removed', instance: expect.anything(), isDetached: true },
        { type: 'removed', instance: expect.anything(), isDetached: true },
      ]);
      closing.resolve();
      await replaced;
      expect(stateOfLab()).toEqual({ context: 'lab', kind: 'kubevirt', state: 'connecting' });
      expect(() => fleet.resolve({ ...query, context: 'lab' })).toThrow(expect.objectContaining({ code: 'NOT_READY' }));
      next.list(buildVm({ ref: { name: 'new' } }));
      expect(refs()).toEqual(['vm/lab/default/new', 'vm/prod/default/web']);
    });

    test('keeps its instances as stale while the new one is lost, with its reason', async () => {
      lab.list(buildVm());
      closing.resolve();
      await replace();
      next.listener.lost(unreachable);
      expect([stale(), stateOfLab()?.reason]).toEqual([[true], 'lab does not answer.']);
      next.list(buildVm());
      expect(stale()).toEqual([false]);
    });

    test.each<[string, () => Promise<void>]>([
      ['hangs', () => new Promise(() => undefined)],
      ['fails', () => Promise.reject(new Error('gone'))],
    ])('does not wait for a former watch whose end %s', async (_what, stop) => {
      lab.stop = stop;
      closing.resolve();
      const replaced = replace();
      await Promise.resolve();
      clock.advance(5000);
      await replaced;
      next.list(buildVm());
      expect([refs(), clock.pending]).toEqual([['vm/lab/default/web'], 0]);
    });

    test('stays connecting if it was never listed', async () => {
      closing.resolve();
      await replace();
      expect(stateOfLab()?.state).toBe('connecting');
    });

    test('drops its instances when it is detached meanwhile, and does not watch the new one', async () => {
      lab.list(buildVm());
      const replaced = replace();
      await fleet.detach('lab');
      closing.resolve();
      await replaced;
      expect([refs(), next.listener]).toEqual([[], undefined]);
    });

    test('does not watch the new one of a fleet that was closed meanwhile', async () => {
      const replaced = replace();
      await fleet.close();
      closing.resolve();
      await replaced;
      expect(next.listener).toBeUndefined();
    });

    test('has to be attached', async () => {
      await expect(
        fleet.replace(new ScriptedBackend('gone').backend, { isAnother: false, whenStopped: async () => undefined }),
      ).rejects.toThrow('is not attached');
    });
  });

  test('waits for no detached context', async () => {
    prod.list();
    const synced = fleet.whenSynced();
    await fleet.detach('lab');
    await synced;
  });

  test('shows a reason as plain text, whichever backend quotes it from outside', () => {
    lab.list(buildVm({ reason: 'Registry says \u001b[2J\u202e\r\nready' }));
    expect(fleet.resolve(query).reason).toBe('Registry says [2J ready');
    lab.listener.changed(buildVm({ reason: 'a\u0000b' }));
    expect(fleet.resolve(query).reason).toBe('a b');
  });

  test('finds no other instance of the name when a query has the ID of one', () => {
    lab.list(buildVm({ uid: 'uid-web' }));
    expect(fleet.resolve({ ...query, uid: 'uid-web' }).uid).toBe('uid-web');
    lab.listener.changed(buildVm({ uid: 'uid-another' }));
    expect(() => fleet.resolve({ ...query, uid: 'uid-web' })).toThrow(
      expect.objectContaining({ code: 'INSTANCE_NOT_FOUND', message: expect.stringContaining('was replaced') }),
    );
  });

  test('shows the folder of an instance, and a new one when it is asked to read it again', () => {
    const folders = new Map<string, string>([['vm/lab/default/web', 'prod']]);
    const { uid: own } = buildVm();
    const foldered = new Fleet({
      clock,
      present: ({ folder }) => ({ folder }),
      folderOf: ({ ref, uid }) => (uid === own ? folders.get(ref) : undefined),
    });
    const changed: (string | undefined)[] = [];
    foldered.attach(lab.backend);
    foldered.subscribe((event) => void (event.type === 'changed' && changed.push(event.entry.folder)));
    lab.list(buildVm());
    const shown = (): unknown => JSON.parse(Buffer.concat(foldered.list('vm').json).toString());
    expect(shown()).toEqual([{ folder: 'prod' }]);
    lab.listener.changed(buildVm({ uid: 'uid-another' }));
    expect(shown()).toEqual([{}]);
    lab.listener.changed(buildVm());
    foldered.refresh(['vm/lab/default/web', 'vm/lab/default/none']);
    folders.set('vm/lab/default/web', 'test');
    foldered.refresh(['vm/lab/default/web']);
    folders.clear();
    foldered.refresh(['vm/lab/default/web']);
    expect(changed).toEqual(['prod', undefined, 'prod', 'test', undefined]);
    expect(shown()).toEqual([{}]);
  });

  test('keeps the version while nothing changes, and raises it with each change', () => {
    lab.list(buildVm());
    prod.list();
    const { version, json } = fleet.list('vm');
    lab.listener.changed(buildVm());
    lab.list(buildVm());
    expect(fleet.list('vm')).toMatchObject({ version, partial: false });
    expect(fleet.list('vm').json).toBe(json);
    lab.listener.changed(buildVm({ status: 'Running' }));
    expect(fleet.list('vm').version).toBeGreaterThan(version);
    expect(fleet.list('ct').version).toBe(0);
  });

  test('drops the instances that a new list lacks, and no others', () => {
    lab.list(buildVm({ ref: { name: 'a' } }), buildVm({ ref: { name: 'b' } }));
    prod.list(buildVm({ ref: { context: 'prod', name: 'a' } }));
    events.length = 0;
    lab.list(buildVm({ ref: { name: 'b' } }));
    expect(refs()).toEqual(['vm/lab/default/b', 'vm/prod/default/a']);
    expect(events.map(({ type }) => type)).toEqual(['removed']);
  });

  test('marks the entries of a lost context as stale and leaves the others alone', () => {
    lab.list(buildVm());
    prod.list(buildVm({ ref: { context: 'prod' } }));
    lab.listener.lost(unreachable);
    expect(JSON.parse(Buffer.concat(fleet.list('vm').json).toString())).toEqual([
      { ref: 'vm/lab/default/web', stale: true },
      { ref: 'vm/prod/default/web', stale: false },
    ]);
    expect(fleet.list('vm').partial).toBe(true);
    lab.list(buildVm());
    expect(JSON.parse(Buffer.concat(fleet.list('vm').json).toString())[0]).toEqual({
      ref: 'vm/lab/default/web',
      stale: false,
    });
    expect(fleet.list('vm').partial).toBe(false);
  });

  test('throws when no context can be reached', () => {
    lab.listener.lost(unreachable);
    expect(() => fleet.list('vm')).not.toThrow();
    prod.listener.lost(unreachable);
    expect(() => fleet.list('vm')).toThrow(expect.objectContaining({ code: 'BACKEND_UNREACHABLE' }));
    expect(() => fleet.resolve(query)).toThrow(expect.objectContaining({ code: 'BACKEND_UNREACHABLE' }));
  });

  test('resolves a name in all contexts: one match, none, several, or the chosen one', () => {
    lab.list(buildVm());
    prod.list();
    expect(fleet.resolve(query).ref.context).toBe('lab');
    expect(() => fleet.resolve({ ...query, kind: 'ct' })).toThrow(
      expect.objectContaining({ code: 'INSTANCE_NOT_FOUND' }),
    );
    prod.list(buildVm({ ref: { context: 'prod' } }));
    expect(() => fleet.resolve(query)).toThrow(
      expect.objectContaining({
        code: 'AMBIGUOUS_INSTANCE',
        details: { candidates: ['vm/lab/default/web', 'vm/prod/default/web'] },
      }),
    );
    expect(fleet.resolve({ ...query, context: 'prod' }).ref.context).toBe('prod');
    expect(() => fleet.resolve({ ...query, context: 'none' })).toThrow(
      expect.objectContaining({ code: 'INSTANCE_NOT_FOUND' }),
    );
  });

  test('does not claim that an instance is missing before its context was listed', () => {
    lab.list(buildVm({ ref: { name: 'db' } }));
    expect(() => fleet.resolve(query)).toThrow(
      expect.objectContaining({
        code: 'NOT_READY',
        message: 'The instances of prod are not listed yet; try again in a moment.',
      }),
    );
    expect(() => fleet.resolve({ ...query, context: 'lab' })).toThrow(
      expect.objectContaining({ code: 'INSTANCE_NOT_FOUND' }),
    );
    prod.list();
    expect(() => fleet.resolve(query)).toThrow(expect.objectContaining({ code: 'INSTANCE_NOT_FOUND' }));
  });

  test('waits for the watch to report a write, up to the timeout', async () => {
    lab.list();
    const ref = buildVm().ref;
    const seen = fleet.waitFor(ref, (instance) => instance !== undefined);
    lab.listener.changed(buildVm());
    await seen;
    const never = fleet.waitFor(ref, (instance) => instance === undefined, 1000);
    clock.advance(1000);
    await never;
    expect(clock.pending).toBe(0);
  });

  test('is synced when each context was listed or lost', async () => {
    let done = false;
    const synced = fleet.whenSynced().then(() => (done = true));
    lab.list();
    await Promise.resolve();
    expect(done).toBe(false);
    prod.listener.lost(unreachable);
    await synced;
    expect(done).toBe(true);
  });

  test('stops every watch', async () => {
    await fleet.close();
    expect([lab.stopped, prod.stopped]).toEqual([true, true]);
  });
});
