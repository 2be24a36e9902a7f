import {
  ADMINISTRATOR,
  Audit,
  buildPlan,
  Change,
  DomainError,
  formatRef,
  parseRef,
  refusal,
  UniformGrant,
  workOn,
  type AuditEntry,
  type Caller,
  type Instance,
  type InstanceRef,
  type Leash,
  type Plan,
} from '@headgate/domain-contracts';
import { Ledger } from '@headgate/reservations';
import { buildVm, FixedClock } from '@headgate/testing';
import { Agents, BudgetFacts, type Agent, type ChangedInstance } from './agents.js';
import { Budgets } from './budgets.js';
import { bindChange, type Rehearsable } from './rehearsable.js';
import { APPROVAL_MS, REHEARSAL_MS, Rehearsals } from './rehearsals.js';

const LEASH: Leash = { actions: ['power'], changesPerHour: 3, maxPercentOfFolder: 100, approval: 'none' };
const ann: Caller = { login: 'ann', name: '', grant: ADMINISTRATOR };
const refOf = (name: string): InstanceRef => ({ kind: 'vm', context: 'lab', namespace: 'default', name });
const textOf = (name: string): string => formatRef(refOf(name));

/** A fleet of names and IDs, with one change that a test controls. */
class World extends Agents {
  readonly clock = new FixedClock();
  readonly entries: AuditEntry[] = [];
  readonly audit = new Audit(
    {
      append: (entry: AuditEntry) => void this.entries.push(entry),
      reserve: () => () => undefined,
      recent: () => [],
    } as never,
    this.clock,
  );
  readonly vms = new Map<string, Instance>();
  readonly folders = new Map<string, string>();
  readonly stopped = new Set<string>();
  readonly carriedOut: string[] = [];
  leash = LEASH;
  journal: ChangedInstance[] = [];
  detail = 'as it is';
  /** Runs when the change has its reservation. */
  whenReserved: () => void = () => undefined;
  readonly rehearsals = this.start();

  start(): Rehearsals {
    const facts: BudgetFacts = {
      changesOf: () => this.journal,
      folderOf: (ref) => (this.vms.has(parseRef(ref).name) ? (this.folders.get(parseRef(ref).name) ?? '') : undefined),
      membersOf: (path) =>
        [...this.vms.values()]
          .map(({ ref, uid }) => ({ ref: formatRef(ref), uid }))
          .filter(({ ref }) => (this.folders.get(parseRef(ref).name) ?? '') === path),
    };
    const resolve = ({ name }: { readonly name: string }): Instance => {
      const found = this.vms.get(name);
      if (found) return found;
      throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${name}.`);
    };
    return new Rehearsals({
      agents: this,
      budgets: new Budgets(facts, this.clock),
      directory: { get: ({ name }: InstanceRef) => this.vms.get(name), resolve } as never,
      audit: this.audit,
      clock: this.clock,
    });
  }

  override get(token: string): Agent {
    if (this.stopped.has(token)) throw new DomainError('NOT_PERMITTED', 'The agent is stopped.');
    const grant = new UniformGrant('token', 'The API token ci', ['read', 'power']);
    const caller: Caller = { login: 'ann', name: 'ci', token, grant };
    return { token, name: 'ci', leash: this.leash, caller };
  }

  /** Reports that something about a token has changed. */
  readonly changes = new Map<string, () => void>();

  override follow(token: string, changed: () => void): () => void {
    this.changes.set(token, changed);
    return () => void this.changes.delete(token);
  }

  report(token: string): void {
    const changed = this.changes.get(token);
    this.changes.delete(token);
    changed?.();
  }

  add(name: string, uid = `uid of ${name}`): void {
    this.vms.set(name, buildVm({ ref: refOf(name), uid }));
  }

  stop(names: readonly string[] | (() => readonly string[]), extra: Partial<Rehearsable> = {}): Rehearsable {
    const choose = typeof names === 'function' ? names : () => names;
    return {
      action: 'stop',
      request: { action: 'stop' },
      isDestructive: false,
      choose: () => choose().map(refOf),
      expectAllowed: (grant) => {
        if (!grant.allowsAll('power')) throw new DomainError('NOT_PERMITTED', 'no');
      },
      bind: (refs) => bindChange(new Stop(this), [refs], () => undefined),
      ...extra,
    };
  }
}

/** Stops VMs one after the other, each with its reservation. */
class Stop extends Change<[refs: readonly InstanceRef[]]> {
  private readonly reservations: Ledger;

  constructor(private readonly world: World) {
    super();
    this.reservations = new Ledger({ clock: world.clock });
  }

  protected override prepare(refs: readonly InstanceRef[]): [readonly InstanceRef[]] {
    return [refs];
  }

  protected override async planPrepared([refs]: [readonly InstanceRef[]]): Promise<Plan> {
    const members = refs.map((ref) => ({ ref: formatRef(ref), ok: true, ...this.planOf(ref) }));
    return { ...buildPlan(members.flatMap(({ steps }) => steps)), members } as Plan;
  }

  protected override async runPrepared([refs]: [readonly InstanceRef[]], caller: Caller): Promise<void> {
    const { world } = this;
    for (const ref of refs)
      await this.reservations.during(workOn('stop', ref), async () => {
        world.whenReserved();
        const target = { ref: formatRef(ref), uid: world.vms.get(ref.name)?.uid ?? '' };
        await caller.rehearsed?.expectSame(target, async () => this.planOf(ref));
        await world.audit.of(caller, 'stop', ref, async () => void world.carriedOut.push(ref.name));
      });
  }

  private planOf({ name }: InstanceRef): Plan {
    const { detail } = this.world;
    if (detail === 'refused')
      return buildPlan([], { refusals: [refusal('WRONG_STATE', `${name} is stopped.`, 'Start it first.')] });
    return buildPlan([{ name: 'stop', detail: `${name}, ${detail}`, seconds: { low: 1, high: 2, measured: 1 } }]);
  }
}

describe('Rehearsals', () => {
  let world: World;

  beforeEach(() => {
    world = new World();
    for (const name of ['web', 'db', 'mail']) world.add(name);
  });

  const commit = (id: string, hash: string | undefined, token = 'A', reason = 'maintenance') =>
    world.rehearsals.commit({ id, hash: hash ?? '', reason }, token);
  const rehearse = (names: readonly string[] = ['web'], extra: Partial<Rehearsable> = {}, token = 'A') =>
    world.rehearsals.rehearse(world.stop(names, extra), token);

  test('carry out the rehearsed change, with the words of the agent in the journal', async () => {
    const { id, hash, plan } = await rehearse(['web', 'db']);
    expect([world.carriedOut, plan]).toEqual([
      [],
      expect.objectContaining({ steps: [expect.anything(), expect.anything()] }),
    ]);
    expect(await commit(id, hash, 'A', 'two\nlines" Approved by root')).toMatchObject({ status: 'done' });
    expect(world.carriedOut).toEqual(['db', 'web']);
    expect(world.entries).toMatchObject([{ action: 'stop' }, { action: 'stop', token: 'A' }]);
    expect(world.entries[0]?.message).toBe('By the agent ci, which said: "two lines\\" Approved by root".');
  });

  test('are committed once, and by one of two at the same time', async () => {
    const { id, hash } = await rehearse();
    const results = await Promise.allSettled([commit(id, hash), commit(id, hash)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await expect(commit(id, hash)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(world.carriedOut).toEqual(['web']);
  });

  test('do not exist for another token, after 5 minutes, or after a restart', async () => {
    const { id, hash } = await rehearse();
    const missing = { code: 'REHEARSAL_NOT_FOUND' };
    await expect(commit(id, hash, 'B')).rejects.toMatchObject(missing);
    expect(() => world.rehearsals.read(id, 'B')).toThrow('There is no rehearsal');
    await expect(world.start().commit({ id, hash: hash ?? '', reason: '' }, 'A')).rejects.toMatchObject(missing);
    await world.clock.advance(REHEARSAL_MS - 1);
    await expect(commit(id, 'another hash')).rejects.toMatchObject({ code: 'CONFLICT' });
    await world.clock.advance(1);
    await expect(commit(id, hash)).rejects.toMatchObject(missing);
    expect(world.carriedOut).toEqual([]);
  });

  test('have hashes that depend on the token, the arguments, the plan and the IDs of the targets', async () => {
    const first = (await rehearse()).hash;
    expect((await rehearse()).hash).toBe(first);
    const others = [
      await rehearse(['web'], {}, 'B'),
      await rehearse(['web'], { request: { action: 'stop', force: true } }),
      await rehearse(['db']),
    ];
    world.detail = 'changed';
    others.push(await rehearse());
    world.detail = 'as it is';
    world.add('web', 'another ID');
    others.push(await rehearse());
    expect(new Set([first, ...others.map(({ hash }) => hash)]).size).toBe(6);
  });

  test('are refused with both plans when the plan has changed, before and with the reservation', async () => {
    const { id, hash } = await rehearse();
    world.detail = 'with more';
    await expect(commit(id, hash)).rejects.toMatchObject({
      code: 'PLAN_CHANGED',
      details: {
        differences: [
          {
            ref: textOf('web'),
            rehearsed: '{"steps":[{"detail":"web, as it is","name":"stop"}]}',
            now: '{"steps":[{"detail":"web, with more","name":"stop"}]}',
          },
        ],
      },
    });
    const again = await rehearse();
    world.whenReserved = () => void (world.detail = 'something else');
    await expect(commit(again.id, again.hash)).rejects.toMatchObject({ code: 'PLAN_CHANGED' });
    expect(world.carriedOut).toEqual([]);
    expect(world.entries.map(({ action, kind, code }) => [action, kind, code])).toEqual([
      ['commit', 'request', 'PLAN_CHANGED'],
      ['commit', 'request', 'PLAN_CHANGED'],
    ]);
  });

  test('are refused for another object of the same name, before and with the reservation', async () => {
    const { id, hash } = await rehearse();
    world.add('web', 'recreated');
    await expect(commit(id, hash)).rejects.toMatchObject({ code: 'PLAN_CHANGED' });
    const again = await rehearse();
    world.whenReserved = () => world.add('web', 'recreated once more');
    await expect(commit(again.id, again.hash)).rejects.toMatchObject({ code: 'PLAN_CHANGED' });
    expect(world.carriedOut).toEqual([]);
  });

  test('are refused when the query matches more or fewer instances', async () => {
    let names = ['web', 'db'];
    for (const later of [['web', 'db', 'mail'], ['web']]) {
      names = ['web', 'db'];
      const { id, hash } = await world.rehearsals.rehearse(
        world.stop(() => names),
        'A',
      );
      names = later;
      await expect(commit(id, hash)).rejects.toMatchObject({ code: 'PLAN_CHANGED' });
    }
    expect(world.carriedOut).toEqual([]);
  });

  test('stop at the next instance when the agent is stopped', async () => {
    const { id, hash } = await rehearse(['db', 'mail', 'web']);
    world.whenReserved = () => {
      if (world.carriedOut.length === 1) world.stopped.add('A');
    };
    await expect(commit(id, hash)).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
    expect(world.carriedOut).toEqual(['db']);
    await expect(rehearse()).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
  });

  test('can not be committed when the plan is refused, or has unplanned members', async () => {
    world.detail = 'refused';
    const { id, hash } = await rehearse();
    expect(hash).toBeUndefined();
    await expect(commit(id, '')).rejects.toMatchObject({ code: 'REHEARSAL_NOT_FOUND' });
    const bind = () => ({
      plan: async () => ({ warnings: [], steps: [1], members: [], unplanned: 1 }),
      run: async () => undefined,
    });
    await expect(rehearse(['web'], { bind })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('carry out nothing of a change that does not compare its plan', async () => {
    const bind = () => ({
      plan: async () => buildPlan([{ name: 'stop', detail: 'web' }]),
      run: (caller: Caller) =>
        world.audit
          .of(caller, 'stop', refOf('web'), async () => void world.carriedOut.push('web'))
          .then(() => undefined),
    });
    const { id, hash } = await rehearse(['web'], { bind });
    await expect(commit(id, hash)).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
    expect(world.carriedOut).toEqual([]);
  });

  test('change no more instances in an hour than the leash allows, also after a restart', async () => {
    for (let round = 0; round < 3; round++) {
      const { id, hash } = await rehearse();
      await commit(id, hash);
      await world.clock.advance(60_000);
    }
    const { id, hash } = await rehearse();
    const possibleAt = new Date(world.clock.now() + 57 * 60_000).toISOString();
    await expect(commit(id, hash)).rejects.toMatchObject({
      code: 'BUDGET_EXHAUSTED',
      details: { changesPerHour: 3, left: 0, wanted: 1, possibleAt },
    });
    world.journal = [1, 2, 3].map(() => ({ ref: textOf('web'), at: world.clock.now() - 1 }));
    const restarted = world.start();
    const again = await restarted.rehearse(world.stop(['web']), 'A');
    await expect(restarted.commit({ id: again.id, hash: again.hash ?? '', reason: '' }, 'A')).rejects.toMatchObject({
      code: 'BUDGET_EXHAUSTED',
    });
    await world.clock.advance(57 * 60_000);
    const later = await rehearse();
    await commit(later.id, later.hash);
    expect(world.carriedOut).toHaveLength(4);
    const many = await rehearse(['web', 'db', 'mail']);
    await expect(commit(many.id, many.hash)).rejects.toThrow(/possible at|never possible/);
  });

  test('change no more than a part of a folder, whose deleted members still count', async () => {
    world.leash = { ...LEASH, changesPerHour: 100, maxPercentOfFolder: 50 };
    for (const name of ['a', 'b', 'c', 'd']) {
      world.add(name);
      world.folders.set(name, 'prod');
    }
    const all = await rehearse(['a', 'b', 'c', 'd']);
    await expect(commit(all.id, all.hash)).rejects.toThrow('50% of the folder prod in an hour, which is 2 of 4');
    const two = await rehearse(['a', 'b']);
    await commit(two.id, two.hash);
    world.vms.delete('a');
    world.vms.delete('b');
    const third = await rehearse(['c']);
    await expect(commit(third.id, third.hash)).rejects.toMatchObject({
      code: 'BUDGET_EXHAUSTED',
      details: { folder: 'prod', members: 4, left: 0 },
    });
    // After a restart, the folders of the deleted ones are not known, so they count everywhere.
    world.journal = ['a', 'b'].map((name) => ({ ref: textOf(name), at: world.clock.now() }));
    const restarted = world.start();
    const again = await restarted.rehearse(world.stop(['c']), 'A');
    await expect(restarted.commit({ id: again.id, hash: again.hash ?? '', reason: '' }, 'A')).rejects.toMatchObject({
      code: 'BUDGET_EXHAUSTED',
    });
  });

  test('end with their token, stay when it was only changed, and leave those of others alone', async () => {
    world.leash = { ...LEASH, approval: 'all' };
    const waiting = [];
    for (const token of ['A', 'A', 'B']) {
      world.add(`vm-${waiting.length}`);
      const { id, hash = '' } = await world.rehearsals.rehearse(world.stop([`vm-${waiting.length}`]), token);
      await world.rehearsals.commit({ id, hash, reason: '' }, token);
      waiting.push(id);
    }
    const listed = () => world.rehearsals.waitingFor(ann).map(({ id }) => id);
    world.report('A');
    expect(listed()).toEqual(waiting);
    expect(world.rehearsals.countWaiting()).toEqual(
      new Map([
        ['A', 2],
        ['B', 1],
      ]),
    );
    // It is followed still.
    world.stopped.add('A');
    world.report('A');
    expect(listed()).toEqual(waiting.slice(2));
    expect(world.rehearsals.read(waiting[0]!, 'A').status).toBe('canceled');
    await expect(world.rehearsals.approve(waiting[0]!, ann)).rejects.toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
    expect([...world.changes.keys()]).toEqual(['B']);
    world.rehearsals.close();
    expect(world.changes.size).toBe(0);
  });

  test('wait for an approval of a user who may do the change, and of no agent', async () => {
    world.leash = { ...LEASH, approval: 'destructive' };
    const harmless = await rehearse();
    expect(await commit(harmless.id, harmless.hash)).toMatchObject({ status: 'done' });
    const { id, hash } = await rehearse(['db'], { isDestructive: true });
    expect(await commit(id, hash)).toMatchObject({ status: 'waiting', reason: 'maintenance' });
    const agent = { ...ann, grant: new UniformGrant('agent', 'The API token ci', ['read', 'power']) };
    const reader = { ...ann, grant: new UniformGrant('reader', 'bob', ['read']) };
    for (const other of [agent, reader]) {
      expect(world.rehearsals.waitingFor(other)).toEqual([]);
      await expect(world.rehearsals.approve(id, other)).rejects.toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
      expect(() => world.rehearsals.reject(id, other)).toThrow('waits for your approval');
    }
    expect(world.rehearsals.waitingFor(ann)).toMatchObject([{ id, action: 'stop', reason: 'maintenance' }]);
    await expect(commit(id, hash)).rejects.toMatchObject({ code: 'CONFLICT' });
    const approvals = [world.rehearsals.approve(id, ann), world.rehearsals.approve(id, ann)];
    expect((await Promise.allSettled(approvals)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(world.carriedOut).toEqual(['web', 'db']);
    expect(world.entries.at(-1)?.message).toBe('By the agent ci, which said: "maintenance". Approved by ann.');
    expect(world.rehearsals.read(id, 'A')).toMatchObject({ status: 'done', decidedBy: 'ann' });
  });

  test('that wait are rejected, expire, are canceled, and are refused when their plan has changed', async () => {
    world.leash = { ...LEASH, approval: 'all' };
    const wait = async (): Promise<string> => {
      const { id, hash } = await rehearse();
      await commit(id, hash);
      return id;
    };
    const rejected = await wait();
    expect(world.rehearsals.reject(rejected, ann)).toMatchObject({ status: 'rejected', decidedBy: 'ann' });
    const changed = await wait();
    world.detail = 'changed meanwhile';
    await expect(world.rehearsals.approve(changed, ann)).rejects.toMatchObject({ code: 'PLAN_CHANGED' });
    expect(world.rehearsals.read(changed, 'A')).toMatchObject({ status: 'failed', error: expect.any(String) });
    const canceled = await wait();
    expect([world.rehearsals.cancel('B'), world.rehearsals.cancel('A')]).toEqual([0, 1]);
    await expect(world.rehearsals.approve(canceled, ann)).rejects.toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
    const expired = await wait();
    await world.clock.advance(APPROVAL_MS);
    await expect(world.rehearsals.approve(expired, ann)).rejects.toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
    expect(world.carriedOut).toEqual([]);
  });

  test('are bounded: the oldest of a token is forgotten, those that wait are not', async () => {
    world.leash = { ...LEASH, approval: 'all' };
    const waiting = [];
    for (let round = 0; round < 5; round++) {
      const { id, hash } = await rehearse();
      waiting.push(id);
      await commit(id, hash);
    }
    const sixth = await rehearse();
    await expect(commit(sixth.id, sixth.hash)).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    for (let round = 0; round < 20; round++) await rehearse();
    expect(() => world.rehearsals.read(sixth.id, 'A')).toThrow('There is no rehearsal');
    expect(waiting.map((id) => world.rehearsals.read(id, 'A').status)).toEqual(Array(5).fill('waiting'));
    for (let token = 0; token < 40; token++)
      for (let round = 0; round < 20; round++) await rehearse(['web'], {}, `T${token}`).catch(() => undefined);
    await expect(rehearse(['web'], {}, 'last')).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
  });
});
