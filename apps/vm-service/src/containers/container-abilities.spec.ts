import 'reflect-metadata';
import { formatRef, INSTANCE_ABILITIES } from '@headgate/domain-contracts';
import { buildContainer, buildVm, MemoryBackend } from '@headgate/testing';
import { holdMethod } from '../testing/hold-method.js';
import { Edge, unreachable } from '../testing/edge.js';
import { STEADY_READING } from '../testing/steady-reading.js';

const BOX = '/api/ext/cts/default/box';
const REF = buildContainer().ref;

/** The routes of abilities that a backend states for containers. */
const ROUTES = [
  ['snapshots', 'GET', '/snapshots', undefined],
  ['snapshots', 'POST', '/snapshots', { name: 'one' }],
  ['snapshots', 'POST', '/snapshots?dryRun=true', { name: 'one' }],
  ['snapshots', 'POST', '/snapshots/one/restore', undefined],
  ['snapshots', 'DELETE', '/snapshots/one', undefined],
  ['cloning', 'POST', '/clone', { target: 'copy' }],
  ['cloning', 'POST', '/clone?dryRun=true', { target: 'copy' }],
  ['hardware', 'GET', '/hardware', undefined],
  ['hardware', 'POST', '/hardware', { changes: [{ kind: 'scale', cpu: 2 }] }],
  ['hardware', 'POST', '/hardware?dryRun=true', { changes: [{ kind: 'scale', cpu: 2 }] }],
  ['containerLogs', 'GET', '/logs', undefined],
  ['containerLogs', 'GET', '/logs?follow=true', undefined],
  ['containerFiles', 'GET', '/files/entries', undefined],
  ['containerFiles', 'GET', '/files/content?path=/etc/hostname', undefined],
  ['inventory', 'GET', '', undefined],
] as const;

describe('a backend that offers everything for containers', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = new Edge(new MemoryBackend('lab'));
    edge.lab.engine.readings.set(formatRef(REF), STEADY_READING);
    await edge.open();
  });
  afterEach(() => edge.close());

  const taskOf = async ({ json }: { readonly json: Record<string, unknown> }) => edge.logged(json['task'], 'never');

  test('creates, lists, restores and deletes snapshots of containers', async () => {
    expect((await edge.send('POST', `${BOX}/snapshots`, { name: 'one' })).json).toEqual({ name: 'one' });
    const automatic = await edge.send('POST', `${BOX}/snapshots`);
    expect(automatic.json['name']).toMatch(/^box-\d{17}$/);
    expect((await edge.send('GET', `${BOX}/snapshots`)).json).toMatchObject([{ name: 'one', ready: true }, {}]);
    const restored = await edge.send('POST', `${BOX}/snapshots/one/restore`);
    expect([restored.status, restored.json['status']]).toEqual([200, 'restoring']);
    expect(await taskOf(restored)).toMatchObject({ kind: 'restore', ref: 'ct/lab/default/box', status: 'done' });
    // It ran before, so it runs again.
    expect(edge.lab.engine.container(REF).phase).toBe('Running');
    expect((await edge.send('DELETE', `${BOX}/snapshots/one`)).json).toEqual({ status: 'deleted' });
    expect((await edge.send('GET', `${BOX}/snapshots`)).json).toHaveLength(1);
  });

  test('leaves a container that was stopped stopped after a restore', async () => {
    await edge.send('POST', `${BOX}/snapshots`, { name: 'one' });
    await edge.send('POST', '/api/cts/default/box/stop');
    expect(await taskOf(await edge.send('POST', `${BOX}/snapshots/one/restore`))).toMatchObject({ status: 'done' });
    expect(edge.lab.engine.container(REF).phase).toBe('Stopped');
  });

  test('plans a clone, and creates it stopped, with no tags and no snapshots', async () => {
    await edge.send('PATCH', BOX, { tags: ['web'] });
    await edge.send('POST', `${BOX}/snapshots`, { name: 'one' });
    const plan = await edge.send('POST', `${BOX}/clone?dryRun=true`, { target: 'copy' });
    expect(plan.json).toMatchObject({ refusals: [], warnings: ['The clone does not get the tags of box: web.'] });
    const cloned = await edge.send('POST', `${BOX}/clone`, { target: 'copy' });
    expect(cloned.json).toMatchObject({ target: 'copy', ref: 'ct/lab/default/copy' });
    expect(edge.lab.engine.container({ ...REF, name: 'copy' })).toMatchObject({ phase: 'Stopped', tags: [] });
    expect((await edge.send('GET', '/api/ext/cts/default/copy/snapshots')).json).toEqual([]);
    const again = await edge.send('POST', `${BOX}/clone`, { target: 'copy' });
    expect([again.status, again.json.code]).toEqual([409, 'ALREADY_EXISTS']);
  });

  test('never takes a VM for a container of its name, or the other way around', async () => {
    edge.lab.engine.put(buildVm({ ref: { name: 'box' }, uid: 'vm-of-that-name' }));
    await edge.send('POST', `${BOX}/snapshots`, { name: 'of-the-container' });
    await edge.send('POST', '/api/vms/default/box/snapshots', { name: 'of-the-vm' });
    expect((await edge.send('GET', `${BOX}/snapshots`)).json).toMatchObject([{ name: 'of-the-container' }]);
    expect((await edge.send('GET', '/api/vms/default/box/snapshots')).json).toMatchObject([{ name: 'of-the-vm' }]);
    expect((await edge.send('POST', `${BOX}/snapshots/of-the-vm/restore`)).status).toBe(404);
    expect((await edge.send('GET', '/api/ext/cts/default/db/snapshots')).status).toBe(404);
  });

  test.each([
    ['the memory of a container', 'POST', '/snapshots', { memory: true }, 400, 'INVALID_INPUT'],
    ['an odd name of a snapshot', 'POST', '/snapshots', { name: '../x' }, 400, 'INVALID_NAME'],
    ['no CPU', 'POST', '/hardware', { changes: [{ kind: 'scale', cpu: 0 }] }, 400, 'INVALID_INPUT'],
    ['no memory', 'POST', '/hardware', { changes: [{ kind: 'scale', mem: '0' }] }, 400, 'INVALID_QUANTITY'],
    ['no change', 'POST', '/hardware', { changes: [] }, 400, 'INVALID_INPUT'],
    ['a snapshot that does not exist', 'POST', '/snapshots/none/restore', undefined, 404, 'SNAPSHOT_NOT_FOUND'],
    ['an odd name of a clone', 'POST', '/clone', { target: 'A b' }, 400, 'INVALID_NAME'],
    ['a clone without a name', 'POST', '/clone', {}, 400, 'INVALID_NAME'],
    ['its own name for a clone', 'POST', '/clone', { target: 'box' }, 409, 'ALREADY_EXISTS'],
  ] as const)('refuses %s', async (_what, method, path, body, status, code) => {
    const refused = await edge.send(method, `${BOX}${path}`, body);
    expect([refused.status, refused.json.code]).toEqual([status, code]);
  });

  test('plans a new size, makes it while the container runs, and shows it in the list at once', async () => {
    const changes = [{ kind: 'scale', cpu: 3, mem: '3Gi' }];
    const plan = await edge.send('POST', `${BOX}/hardware?dryRun=true`, { changes });
    expect(plan.json).toMatchObject({
      effect: 'now',
      refusals: [],
      changes: [{ index: 0, action: 'scale to 3 CPUs and 3Gi of memory', after: '3 CPUs, 3Gi', effect: 'now' }],
    });
    expect(edge.lab.engine.container(REF).cpu).not.toBe(3);
    const done = await edge.send('POST', `${BOX}/hardware`, { changes });
    expect([done.status, done.json]).toMatchObject([200, { status: 'ok', effect: 'now', pending: [] }]);
    const listed = (await edge.send('GET', '/api/cts')).json as unknown as { name: string; cpu: number; mem: string }[];
    expect(listed.find(({ name }) => name === 'box')).toMatchObject({ cpu: 3, mem: '3Gi' });
    const read = await edge.send('GET', `${BOX}/hardware`);
    expect(read.json).toMatchObject({ cpu: 3, mem: '3Gi', changes: ['scale'] });
    const events = await edge.send('GET', `${BOX}/events`);
    expect(events.json).toEqual(
      expect.arrayContaining([expect.objectContaining({ reason: 'scale to 3 CPUs and 3Gi of memory' })]),
    );
  });

  test('changes nothing when one of several changes is not for containers', async () => {
    const changes = [
      { kind: 'scale', cpu: 3 },
      { kind: 'set-autostart', on: true },
    ];
    const refused = await edge.send('POST', `${BOX}/hardware`, { changes });
    expect([refused.status, refused.json.code]).toEqual([501, 'NOT_SUPPORTED']);
    expect(edge.lab.engine.container(REF).cpu).not.toBe(3);
  });

  test('refuses what does not go together with a snapshot, a restore and a clone', async () => {
    await edge.send('POST', `${BOX}/snapshots`, { name: 'one' });
    const held = holdMethod(edge.lab.require('snapshots'), 'create');
    const first = edge.send('POST', `${BOX}/snapshots`, { name: 'two' });
    await held.begun;
    for (const [method, path, body] of [
      ['DELETE', '/api/cts/default/box', undefined],
      ['POST', '/api/cts/default/box/stop', undefined],
      ['POST', `${BOX}/snapshots/one/restore`, undefined],
      ['POST', `${BOX}/clone`, { target: 'copy' }],
      ['POST', `${BOX}/hardware`, { changes: [{ kind: 'scale', cpu: 3 }] }],
    ] as const) {
      const refused = await edge.send(method, path, body);
      expect([path, refused.status, refused.json.code]).toEqual([path, 409, 'BUSY']);
    }
    expect((await edge.send('GET', `${BOX}/logs`)).status).toBe(200);
    held.end();
    expect((await first).status).toBe(200);
    // Of two requests for one name, one wins.
    const clones = await Promise.all([1, 2].map(() => edge.send('POST', `${BOX}/clone`, { target: 'copy' })));
    expect(clones.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('reads the manifest, with what the service did to the container in its events', async () => {
    expect((await edge.send('GET', BOX)).json).toMatchObject({ kind: 'MemoryContainer', name: 'box' });
    await edge.send('POST', `${BOX}/snapshots`, { name: 'one' });
    expect((await edge.send('GET', `${BOX}/events`)).json).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ source: 'service', reason: 'create snapshot one' }),
        expect.objectContaining({ source: 'cluster', object: 'MemoryContainer/box' }),
      ]),
    );
  });

  test('measures containers, and keeps the usage of an hour in memory and of 30 days in files', async () => {
    const read = (range: string) => edge.send('GET', `${BOX}/metrics/history?range=${range}`);
    while (((await read('1h')).json['points'] as unknown[]).length === 0);
    expect((await edge.send('GET', `${BOX}/metrics`)).json).toMatchObject({ cpu: 250, t: expect.any(Number) });
    for (const range of ['1h', '24h', '7d', '30d'])
      expect((await read(range)).json).toMatchObject({ range, points: [{ cpu: 250 }] });
    // The files outlive the service, and the memory does not.
    edge.lab.engine.readings.clear();
    await edge.send('POST', '/api/cts/default/box/stop');
    await edge.reopen();
    expect((await read('1h')).json['points']).toEqual([]);
    expect((await read('30d')).json).toMatchObject({ points: [{ cpu: 250 }] });
    expect((await read('90d')).status).toBe(400);
  });

  test('says so in the capabilities', async () => {
    const { contexts } = (await edge.send('GET', '/api/capabilities')).json as unknown as {
      contexts: { context: string; containerAbilities: Record<string, unknown> }[];
    };
    const { containerAbilities } = contexts.find(({ context }) => context === 'lab')!;
    expect(Object.keys(containerAbilities)).toEqual(INSTANCE_ABILITIES);
    expect(containerAbilities).toMatchObject({
      snapshots: true,
      cloning: true,
      containerLogs: true,
      containerFiles: true,
      hardware: true,
      migration: 'lab does not offer migrations of containers.',
    });
  });
});

describe('a backend that states no abilities for containers', () => {
  let edge: Edge;

  beforeAll(async () => {
    edge = await new Edge(new MemoryBackend('lab', { containerAbilities: ['containers'] })).open();
  });
  afterAll(() => edge.close());

  test.each(ROUTES)('refuses %s in %s %s with 501 and a sentence', async (name, method, path, body) => {
    const { status, json } = await edge.send(method, `${BOX}${path}`, body);
    expect([status, json.code]).toEqual([501, 'NOT_SUPPORTED']);
    expect(json.error).toMatch(/^lab does not offer .*containers\.$/);
    const { contexts } = (await edge.send('GET', '/api/capabilities')).json as unknown as {
      contexts: { containerAbilities: Record<string, unknown>; abilities: Record<string, unknown> }[];
    };
    expect(contexts[0]?.containerAbilities[name]).toBe(json.error);
    expect(contexts[0]?.abilities[name]).toBe(true);
  });

  test('has only the events of the service, and no usage with the reason', async () => {
    await edge.send('PATCH', BOX, { tags: ['web'] });
    const events = (await edge.send('GET', `${BOX}/events`)).json as unknown as { source: string }[];
    expect([...new Set(events.map(({ source }) => source))]).toEqual(['service']);
    expect((await edge.send('GET', `${BOX}/metrics`)).json).toMatchObject({
      cpu: null,
      reason: 'lab does not offer the resource usage of containers.',
    });
  });

  test('still offers everything for VMs', async () => {
    expect((await edge.send('GET', '/api/vms/default/web/snapshots')).status).toBe(200);
    expect((await edge.send('POST', '/api/vms/default/web/clone', { target: 'copy' })).status).toBe(200);
  });
});

describe('a context that does not answer', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = new Edge(new MemoryBackend('lab'));
    await edge.open();
  });
  afterEach(() => edge.close());

  const expectUnreachable = async (routes: readonly (typeof ROUTES)[number][]): Promise<void> => {
    for (const [, method, path, body] of routes) {
      const { status, json } = await edge.send(method, `${BOX}${path}`, body);
      expect([method, path, status, json.code]).toEqual([method, path, 503, 'BACKEND_UNREACHABLE']);
      expect(json.error).toContain('lab does not answer.');
    }
  };

  test('is reported by all routes when it is known to be lost, and not as missing abilities', async () => {
    edge.lab.engine.disconnect(unreachable);
    await expectUnreachable(ROUTES);
  });

  test('is reported by all routes before the loss was noticed', async () => {
    edge.lab.engine.expectReachable = () => {
      throw unreachable;
    };
    await expectUnreachable(ROUTES);
  });

  test('keeps the list of its abilities in the capabilities, and offers all of them after its return', async () => {
    edge.lab.engine.disconnect(unreachable);
    const { contexts } = (await edge.send('GET', '/api/capabilities')).json as unknown as {
      contexts: { up: boolean; containerAbilities: Record<string, unknown> }[];
    };
    expect(contexts[0]).toMatchObject({ up: false, containerAbilities: { containerLogs: true, snapshots: true } });
    edge.lab.engine.reconnect();
    expect((await edge.send('GET', `${BOX}/logs`)).body).toBe('ready\n');
  });
});
