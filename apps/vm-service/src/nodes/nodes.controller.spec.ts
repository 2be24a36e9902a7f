import 'reflect-metadata';
import type { DrainPlanView, TaskView } from '@headgate/api-contracts';
import { buildContainer, buildVm, MemoryBackend, withStatus } from '@headgate/testing';
import { Edge, unreachable } from '../testing/edge.js';

const GIB = 1024 ** 3;
const BIG = 'vm/lab/default/big';
const SMALL = 'vm/lab/default/small';
const BOX = 'ct/lab/default/shed';
const NODE = '/api/ext/nodes/memory-3';
const MAX_TURNS = 20_000;

describe('nodes', () => {
  let edge: Edge;

  /** Three nodes. `big`, `small` and the container `shed` are on the third, and the VMs of every edge on the first. */
  beforeEach(async () => {
    const lab = new MemoryBackend('lab', { nodeCount: 3 });
    const vm = (name: string, memoryBytes: number) =>
      withStatus(buildVm({ ref: { context: 'lab', name }, cpu: 1, memoryBytes }), 'Running', 'memory-3');
    lab.engine.put(vm('big', 4 * GIB));
    lab.engine.put(vm('small', GIB));
    lab.engine.put(buildContainer({ ref: { context: 'lab', name: 'shed' }, node: 'memory-3' }));
    edge = await new Edge(lab).open();
    await edge.send('GET', '/api/vms');
  });
  afterEach(() => edge.close());

  const post = (action: string, body: object = {}, query = '') =>
    edge.send('POST', `${NODE}/${action}?context=lab${query}`, body);
  const planOf = async (body: object = {}): Promise<DrainPlanView> =>
    (await post('drain', body, '&dryRun=true')).json as unknown as DrainPlanView;
  const task = async (id: string): Promise<TaskView> =>
    (await edge.send('GET', `/api/tasks/${id}`)).json as unknown as TaskView;
  const untilTask = async (id: string, isDone: (found: TaskView) => boolean): Promise<TaskView> => {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const found = await task(id);
      if (isDone(found)) return found;
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`${id} did not come that far`);
  };
  const ended = (id: string): Promise<TaskView> => untilTask(id, ({ status }) => status !== 'running');
  const drained = async (body: object = {}): Promise<TaskView> => {
    const { status, json } = await post('drain', body);
    expect([status, json.error]).toEqual([202, undefined]);
    return ended(String(json['task']));
  };
  const isSchedulable = async (name = 'memory-3'): Promise<unknown> => {
    const nodes = (await edge.send('GET', '/api/ext/nodes?context=lab')).json as unknown as Record<string, unknown>[];
    return nodes.find((node) => node['name'] === name)?.['schedulable'];
  };
  const nodeOf = (ref: string): string | undefined =>
    edge.lab.engine.all().find((one) => `${one.ref.kind}/lab/default/${one.ref.name}` === ref)?.node;
  const actions = async (): Promise<unknown[]> =>
    ((await edge.send('GET', '/api/ext/journal?q=node/lab')).json as unknown as { action: string }[]).map(
      ({ action }) => action,
    );
  /** Keeps the migration of a VM from ending until the returned function is called. */
  const hold = (name: string): (() => void) => {
    const scheduling = edge.lab.require('nodeScheduling');
    const leave = scheduling.leave.bind(scheduling);
    const held = Promise.withResolvers<void>();
    scheduling.leave = async (ref, node, key) => {
      const work = await leave(ref, node, key);
      if (ref.name !== name) return work;
      return async (report) => {
        report.signal.addEventListener('abort', () => held.reject(report.signal.reason));
        await held.promise;
        await work?.(report);
      };
    };
    return held.resolve;
  };

  test('are cordoned and uncordoned once, with an entry in the journal', async () => {
    const plan = (await post('cordon', {}, '&dryRun=true')).json;
    expect(plan).toMatchObject({ steps: [{ name: 'cordon' }], refusals: [], warnings: [] });
    expect(await isSchedulable()).toBe(true);
    expect((await post('cordon')).json).toEqual({ changed: true });
    expect((await post('cordon')).json).toEqual({ changed: false });
    expect(await isSchedulable()).toBe(false);
    expect((await post('uncordon')).json).toEqual({ changed: true });
    expect(await isSchedulable()).toBe(true);
    expect(await actions()).toEqual(['uncordon', 'cordon', 'cordon']);
  });

  test('need their context, and one that can schedule', async () => {
    expect((await edge.send('POST', `${NODE}/cordon`)).status).toBe(400);
    expect((await edge.send('POST', `${NODE}/cordon?context=nope`)).json.code).toBe('CONTEXT_NOT_FOUND');
    const missing = await edge.send('POST', '/api/ext/nodes/nope/drain?context=lab', {});
    expect([missing.status, missing.json.code]).toEqual([400, 'NODE_NOT_FOUND']);
    for (const body of [{ atOnce: 0 }, { atOnce: 9 }, { atOnce: '2' }, { node: 'a' }, { stopOnError: null }])
      expect((await post('drain', body)).status).toBe(400);
    edge.lab.engine.disconnect(unreachable);
    const lost = await post('drain');
    expect([lost.status, lost.json.code]).toEqual([503, 'BACKEND_UNREACHABLE']);
  });

  test('are drained with a plan for each instance, the largest first', async () => {
    const plan = await planOf();
    expect(plan).toMatchObject({ ok: true, refusals: [], warnings: [], others: 0 });
    expect(plan.steps[0]?.name).toBe('cordon');
    expect(plan.members.map(({ ref, way, ok }) => [ref, way, ok])).toEqual([
      [BIG, 'migrate', true],
      [SMALL, 'migrate', true],
      [BOX, 'restart', true],
    ]);
    expect(plan.members[0]).toMatchObject({ nodes: ['memory-1', 'memory-2'] });
    expect(plan.members[0]?.steps[0]?.detail).toMatch(/^Migrate big to one of 2 nodes with room, probably memory-\d/);
    expect(await isSchedulable()).toBe(true);
    const done = await drained();
    expect(done).toMatchObject({
      kind: 'bulk',
      status: 'done',
      bulk: { action: 'drain', drain: { context: 'lab', node: 'memory-3' }, perHost: 2, counts: { done: 3 } },
    });
    for (const { ref, task: child = '' } of done.members ?? [])
      expect(await task(child)).toMatchObject({ kind: 'drain', status: 'done', ref });
    for (const ref of [BIG, SMALL, BOX]) expect(nodeOf(ref)).not.toBe('memory-3');
    expect(await isSchedulable()).toBe(false);
    const nothing = await post('drain');
    expect([nothing.status, nothing.json['task']]).toEqual([202, undefined]);
  });

  test('promise the time that migrations took before, with the number of measurements', async () => {
    expect((await planOf()).members[0]).not.toHaveProperty('seconds');
    await drained();
    await post('uncordon');
    for (const ref of [BIG, SMALL]) {
      const name = ref.split('/').at(-1);
      const vm = edge.lab.engine.all().find((one) => one.ref.name === name && one.ref.kind === 'vm');
      if (vm) edge.lab.engine.put({ ...vm, node: 'memory-3' });
    }
    const [first] = (await planOf()).members;
    expect(first).toMatchObject({ ref: BIG, seconds: { measured: 2 }, interruption: { measured: 2 } });
  });

  test('are not drained when an instance has no room, unless the others shall leave', async () => {
    for (const node of ['memory-1', 'memory-2'])
      edge.lab.engine.put(
        withStatus(
          buildVm({ ref: { context: 'lab', name: `filler-${node}` }, cpu: 1, memoryBytes: 59 * GIB }),
          'Running',
          node,
        ),
      );
    const plan = await planOf();
    expect(plan).toMatchObject({ ok: false, steps: [] });
    expect(plan.members.find(({ ref }) => ref === BIG)).toMatchObject({
      ok: false,
      refusals: [{ code: 'WRONG_STATE', reason: expect.stringMatching(/^No node that may run it has room/) }],
    });
    const refused = await post('drain');
    expect([refused.status, refused.json.code]).toEqual([409, 'WRONG_STATE']);
    expect(await isSchedulable()).toBe(true);
    expect(await planOf({ skipRefused: true })).toMatchObject({
      ok: true,
      warnings: ['1 instance stays on memory-3.'],
    });
    expect(await drained({ skipRefused: true })).toMatchObject({ status: 'done', bulk: { counts: { done: 2 } } });
    expect(nodeOf(BIG)).toBe('memory-3');
  });

  test('are not drained while no other takes instances', async () => {
    await edge.send('POST', '/api/ext/nodes/memory-1/cordon?context=lab');
    await edge.send('POST', '/api/ext/nodes/memory-2/cordon?context=lab');
    expect((await planOf()).refusals[0]?.reason).toMatch(/^memory-3 is the only node that takes instances/);
    expect((await post('drain', { skipRefused: true })).status).toBe(409);
    expect(await isSchedulable()).toBe(true);
    const last = (await post('cordon', {}, '&dryRun=true')).json;
    expect(last['warnings']).toEqual([expect.stringMatching(/^No other node takes instances/)]);
  });

  test('are never both cordoned by two drains that begin together', async () => {
    await edge.send('POST', '/api/ext/nodes/memory-1/cordon?context=lab');
    const both = await Promise.all([post('drain'), edge.send('POST', '/api/ext/nodes/memory-2/drain?context=lab', {})]);
    expect(both.filter(({ status }) => status === 202).length).toBeLessThan(2);
    const open = [await isSchedulable('memory-2'), await isSchedulable('memory-3')];
    expect(open).toContain(true);
  });

  test('are drained at the same time as others, each with the number of instances that was asked for', async () => {
    const release = hold('big');
    const first = String((await post('drain', { atOnce: 1 })).json['task']);
    await untilTask(first, ({ bulk }) => bulk?.counts.running === 1);
    const second = await edge.send('POST', '/api/ext/nodes/memory-2/drain?context=lab', { skipRefused: true });
    expect(second.status).toBe(202);
    expect((await task(first)).bulk?.counts).toMatchObject({ running: 1, waiting: 2 });
    release();
    expect(await ended(first)).toMatchObject({ status: 'done' });
  });

  test('refuse an instance that another operation uses, with its task', async () => {
    const release = hold('big');
    const id = String((await post('drain', { atOnce: 1 })).json['task']);
    await untilTask(id, ({ bulk }) => bulk?.counts.running === 1);
    const { ok, members } = await planOf();
    expect(ok).toBe(false);
    expect(members.find(({ ref }) => ref === BIG)?.refusals[0]).toMatchObject({ code: 'BUSY' });
    release();
    await ended(id);
  });

  test('keep what has not left when the drain is canceled, and stay cordoned', async () => {
    const release = hold('big');
    const id = String((await post('drain', { atOnce: 1 })).json['task']);
    await untilTask(id, ({ bulk }) => bulk?.counts.running === 1);
    expect((await edge.send('POST', `/api/ext/bulk/${id}/cancel`)).status).toBe(200);
    release();
    const { bulk } = await ended(id);
    expect(bulk?.counts).toMatchObject({ done: 1, skipped: 2 });
    expect([nodeOf(SMALL), await isSchedulable()]).toEqual(['memory-3', false]);
    const again = await edge.send('POST', `/api/ext/bulk/${id}/retry`);
    expect(await ended(String(again.json['task']))).toMatchObject({ status: 'done', bulk: { counts: { done: 2 } } });
  });

  test('keep what has not left when they are uncordoned meanwhile, or are gone', async () => {
    const release = hold('big');
    const id = String((await post('drain', { atOnce: 1 })).json['task']);
    await untilTask(id, ({ bulk }) => bulk?.counts.running === 1);
    await post('uncordon');
    release();
    const { members = [], status } = await ended(id);
    expect(status).toBe('error');
    expect(members.map(({ error }) => error)).toEqual([
      undefined,
      'memory-3 was uncordoned, which ends its drain.',
      'memory-3 was uncordoned, which ends its drain.',
    ]);
    expect([nodeOf(SMALL), await isSchedulable()]).toEqual(['memory-3', true]);
    const { engine } = edge.lab;
    await post('cordon');
    engine.nodes.splice(2, 1);
    const again = await edge.send('POST', `/api/ext/bulk/${id}/retry`);
    const gone = await ended(String(again.json['task']));
    expect(gone.members?.[0]?.error).toBe('There is no node named memory-3.');
  });

  test('stop at the first failure if that is wanted', async () => {
    const scheduling = edge.lab.require('nodeScheduling');
    const leave = scheduling.leave.bind(scheduling);
    scheduling.leave = (ref, node, key) =>
      ref.name === 'big' ? Promise.reject(new Error('no memory')) : leave(ref, node, key);
    const done = await drained({ atOnce: 1, stopOnError: true });
    expect(done.bulk?.counts).toMatchObject({ error: 1, skipped: 2, done: 0 });
    expect(nodeOf(SMALL)).toBe('memory-3');
  });

  test('continue their drain after a restart of the service', async () => {
    hold('big');
    const id = String((await post('drain', { atOnce: 1 })).json['task']);
    await untilTask(id, ({ bulk }) => bulk?.counts.running === 1);
    await edge.reopen();
    expect(await ended(id)).toMatchObject({ status: 'done', bulk: { counts: { done: 3 } } });
    for (const ref of [BIG, SMALL, BOX]) expect(nodeOf(ref)).not.toBe('memory-3');
  });

  test('are not cordoned in a context without the ability, with its sentence', async () => {
    const own = await new Edge(
      new MemoryBackend('lab', { unavailable: { nodeScheduling: 'A libvirt context is a single host.' } }),
    ).open();
    try {
      const { status, json } = await own.send('POST', '/api/ext/nodes/memory-1/drain?context=lab', {});
      expect([status, json.error]).toEqual([501, 'A libvirt context is a single host.']);
    } finally {
      await own.close();
    }
  });
});
