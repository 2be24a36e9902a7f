import { describeOnIncus, INCUS_POOL, PrivateIncusd, TINY_ALIAS } from '@headgate/testing';
import type { IncusEngine } from '../engine/incus-engine.js';
import { connectTo } from '../testing/connect-to.js';
import type { IncusCluster } from './incus-cluster.js';
import { openCluster } from './open-cluster.js';

const MIB = 1024 ** 2;
const NODE = 'node-1';

describeOnIncus('the nodes, pools and networks', (flavor) => {
  let daemon: PrivateIncusd;
  let engine: IncusEngine;
  let cluster: IncusCluster;
  beforeAll(async () => {
    daemon = await PrivateIncusd.start(flavor, { name: NODE, listens: true });
    engine = connectTo(daemon);
    cluster = openCluster(engine);
    await daemon.run('launch', TINY_ALIAS, 'web', '-c', 'limits.cpu=1', '-c', 'limits.memory=64MiB');
    await daemon.run('init', TINY_ALIAS, 'off');
    await daemon.run('snapshot', ...(flavor === 'incus' ? ['create'] : []), 'off', 'one');
  });
  afterAll(async () => {
    engine?.api.close();
    await daemon?.close();
  });

  test('a server is one node', async () => {
    expect(await cluster.nodes()).toEqual([
      {
        name: NODE,
        ready: true,
        roles: '',
        kubelet: expect.stringMatching(flavor === 'incus' ? /^Incus \d/ : /^LXD \d/),
        arch: expect.stringMatching(/^(x86_64|aarch64)$/),
        cpuMillicores: expect.any(Number),
        memoryBytes: expect.any(Number),
        allocatable: { cpuMillicores: expect.any(Number), memoryBytes: expect.any(Number) },
        zone: '',
        unschedulable: '',
      },
    ]);
  });

  test('lists the pools with their space and their users, the default one among them', async () => {
    await daemon.run('storage', 'create', 'another', 'dir');
    expect(await cluster.storage()).toMatchObject({ storageClass: INCUS_POOL });
    const pools = await cluster.storages();
    expect(pools.map(({ name, isDefault, type }) => [name, isDefault, type])).toEqual([
      ['another', false, 'dir'],
      [INCUS_POOL, true, 'dir'],
    ]);
    for (const { capacityBytes, freeBytes, isActive } of pools) {
      expect(isActive).toBe(true);
      expect(freeBytes).toBeGreaterThan(0);
      expect(freeBytes).toBeLessThan(capacityBytes ?? 0);
    }
    expect(pools.map(({ users }) => users.map(({ name }) => name))).toEqual([[], ['off', 'web']]);
  });

  test('lists the networks of the host without its loopback', async () => {
    const names = (await cluster.networks()).map(({ name }) => name);
    expect(names).not.toContain('lo');
    expect((await cluster.networkDetails()).filter(({ isActive }) => isActive).map(({ name }) => name)).toEqual(names);
  });

  test('only the running container is affected by a failure of the node', async () => {
    const { instances } = await cluster.failureOf(NODE);
    expect(instances).toEqual([
      {
        ref: { kind: 'ct', context: 'local', namespace: 'default', name: 'web' },
        cpu: 1,
        memoryBytes: 64 * MIB,
        staysDown: 'The server has no other member that could start it.',
        candidates: [],
        unchecked: [],
      },
    ]);
    await expect(cluster.failureOf('other')).rejects.toMatchObject({ code: 'NODE_NOT_FOUND' });
  });

  test('a cluster has its members as nodes', async () => {
    await daemon.run('cluster', 'enable', 'member-1');
    await engine.api.readServer();
    const [node, ...others] = await cluster.nodes();
    expect(others).toEqual([]);
    expect(node).toMatchObject({ name: 'member-1', ready: true, zone: '', cpuMillicores: expect.any(Number) });
    expect(node?.roles).toContain('database');
    expect((await cluster.failureOf('member-1')).instances.map(({ ref }) => ref.name)).toEqual(['web']);
  });

  test('reports a server that does not answer', async () => {
    await daemon.kill();
    for (const read of ['nodes', 'storage', 'networks', 'storages', 'networkDetails'] as const)
      await expect(cluster[read]()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    await expect(cluster.failureOf(NODE)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  });
});
