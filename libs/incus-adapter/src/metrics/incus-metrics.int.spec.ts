import { describeOnIncus, INCUS_POOL, PrivateIncusd, TINY_ALIAS } from '@headgate/testing';
import type { IncusEngine } from '../engine/incus-engine.js';
import { connectTo } from '../testing/connect-to.js';
import { openMetrics } from './open-metrics.js';

const MIB = 1024 ** 2;

describeOnIncus('metrics', (flavor) => {
  let daemon: PrivateIncusd;
  let engine: IncusEngine;
  beforeAll(async () => {
    daemon = await PrivateIncusd.start(flavor, { name: 'node-1' });
    engine = connectTo(daemon);
  });
  afterAll(async () => {
    engine?.api.close();
    await daemon?.close();
  });

  test('measures running containers of all projects, and the node', async () => {
    await daemon.run('project', 'create', 'Lab', '-c', 'features.images=false', '-c', 'features.profiles=false');
    await daemon.run('launch', TINY_ALIAS, 'web', '-c', 'limits.memory=64MiB', '-s', INCUS_POOL);
    await daemon.run('launch', TINY_ALIAS, 'web', '--project', 'Lab');
    await daemon.run('init', TINY_ALIAS, 'off');
    await daemon.run('exec', 'web', '--', 'sh', '-c', 'n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); done');

    const { instances, nodes } = await openMetrics(engine).read();
    expect(nodes).toEqual([
      { name: 'node-1', cpuTimeMs: expect.any(Number), cpuMillicores: null, memoryUsedBytes: expect.any(Number) },
    ]);
    expect(instances.map(({ ref }) => `${ref.kind} ${ref.namespace}/${ref.name}`).sort()).toEqual([
      'ct default/web',
      expect.stringMatching(/^ct lab-[0-9a-f]{8}\/web$/),
    ]);
    const web = instances.find(({ ref }) => ref.namespace === 'default');
    expect(web).toMatchObject({ cpuMillicores: null, networkReceivedBytes: null, memoryTotalBytes: 64 * MIB });
    expect(web?.cpuTimeMs).toBeGreaterThan(10);
    expect(web?.memoryUsedBytes).toBeGreaterThan(100_000);
    expect(web?.memoryUsedBytes).toBeLessThan(64 * MIB);
  });

  test('reports a daemon that does not answer', async () => {
    await daemon.kill();
    await expect(openMetrics(engine).read()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  });
});
