import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildVm, MemoryBackend, withStatus } from '@headgate/testing';
import { Edge, unreachable } from '../testing/edge.js';

const GIB = 1024 ** 3;

describe('the infrastructure', () => {
  let edge: Edge;
  const read = async (path: string) => (await edge.send('GET', path)).json as unknown as Record<string, unknown>[];

  beforeEach(async () => {
    const lab = new MemoryBackend('lab', { nodeCount: 2 });
    const big = { cpu: 12, memoryBytes: 40 * GIB };
    lab.engine.put(withStatus(buildVm({ ref: { context: 'lab', name: 'big' }, ...big }), 'Running', 'memory-1'));
    lab.engine.put(
      withStatus(buildVm({ ref: { context: 'lab', name: 'small' }, cpu: 1, memoryBytes: GIB }), 'Running', 'memory-2'),
    );
    edge = await new Edge(lab).open();
  });
  afterEach(() => edge.close());

  test('lists the nodes with the sizes of their running instances', async () => {
    const nodes = await read('/api/ext/nodes');
    expect(nodes.map(({ context, name }) => `${String(context)}/${String(name)}`)).toEqual([
      'lab/memory-1',
      'lab/memory-2',
      'other/memory-1',
    ]);
    expect(nodes[1]).toMatchObject({
      ready: true,
      schedulable: true,
      capacity: { cpu: 16_000, memoryBytes: 64 * GIB },
      allocatable: { cpu: 15_500, memoryBytes: 62 * GIB },
    });
    expect(nodes[2]).toMatchObject({ promised: { cpu: 0, memoryBytes: 0 }, instances: 0 });
    const [first] = nodes as unknown as { promised: { cpu: number; memoryBytes: number }; instances: number }[];
    expect(first!.promised.memoryBytes).toBeGreaterThanOrEqual(40 * GIB);
    expect(await read('/api/ext/nodes?context=other')).toHaveLength(1);
  });

  test('leaves the nodes of the contract as they are', async () => {
    const [node] = await read('/api/nodes');
    expect(Object.keys(node!)).toEqual(['name', 'ready', 'roles', 'kubelet', 'arch', 'context', 'capacity', 'load']);
  });

  test('reports which instances of a node restart elsewhere, and which have no room there', async () => {
    const failure = async () => (await edge.send('GET', '/api/ext/nodes/memory-1/failure?context=lab')).json;
    const big = async () => ((await failure())['instances'] as { name: string }[]).find(({ name }) => name === 'big');
    expect(await big()).toMatchObject({ outcome: 'restarts', nodes: ['memory-2'], unchecked: [] });
    edge.lab.engine.put(
      withStatus(
        buildVm({ ref: { context: 'lab', name: 'filler' }, cpu: 1, memoryBytes: 30 * GIB }),
        'Running',
        'memory-2',
      ),
    );
    expect(await big()).toMatchObject({
      outcome: 'no-room',
      nodes: [],
      reason: 'No node that may run it has room: memory-2.',
    });
  });

  test('needs the context of a node, and one that exists', async () => {
    expect((await edge.send('GET', '/api/ext/nodes/memory-1/failure')).status).toBe(400);
    const missing = await edge.send('GET', '/api/ext/nodes/nope/failure?context=lab');
    expect([missing.status, missing.json['code']]).toEqual([400, 'NODE_NOT_FOUND']);
    expect((await edge.send('GET', '/api/ext/nodes/memory-1/failure?context=nope')).json['code']).toBe(
      'CONTEXT_NOT_FOUND',
    );
  });

  test('lists storages and networks with their users', async () => {
    const [storage] = await read('/api/ext/storage');
    expect(storage).toMatchObject({ name: 'memory', context: 'lab', kind: 'pool', default: true, hiddenUsers: 0 });
    expect(storage!['users']).toContainEqual({
      ref: 'vm/lab/default/big',
      kind: 'vm',
      namespace: 'default',
      name: 'big',
    });
    const [network] = await read('/api/ext/networks');
    expect(network).toMatchObject({
      ref: 'default/lan',
      mode: 'nat',
      bridge: 'lan0',
      dhcp: [{ start: '192.0.2.10', end: '192.0.2.99' }],
    });
  });

  test('answers with the contexts that can be reached', async () => {
    edge.lab.engine.disconnect(unreachable);
    for (const path of ['/api/ext/nodes', '/api/ext/storage', '/api/ext/networks']) {
      const { status, headers, json } = await edge.send('GET', path);
      expect([status, headers['svc-partial'], (json as unknown as unknown[]).length]).toEqual([200, 'true', 1]);
    }
  });

  test('counts the users that a caller with a role may not read, and does not name them', async () => {
    await edge.close();
    edge = new Edge();
    const file = join(edge.folder, 'roles.yaml');
    writeFileSync(file, 'admins: [ann]\nroles: [{ login: vera, folder: prod, role: viewer }]\n');
    await edge.open({}, ['--config', file]);
    const [ann, vera] = ['ann', 'vera'].map((login) => ({ 'tailscale-user-login': login }));
    await edge.send('POST', '/api/folders', { path: 'prod' }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: 'vm/lab/default/db' }, ann);
    for (const path of ['/api/ext/storage', '/api/ext/networks']) {
      const { json } = await edge.send('GET', path, undefined, vera);
      const [first] = json as unknown as { users: { name: string }[]; hiddenUsers: number }[];
      expect([first!.users.map(({ name }) => name), first!.hiddenUsers]).toEqual([['db'], 2]);
    }
    const hidden = buildVm({ ref: { context: 'lab', name: 'web' } });
    edge.lab.engine.put(withStatus(hidden, 'Running', 'memory-1'));
    const failure = await edge.send('GET', '/api/ext/nodes/memory-1/failure?context=lab', undefined, vera);
    expect(failure.json).toMatchObject({ instances: [{ name: 'db', outcome: 'no-room' }], hidden: 1 });
  });
});
