import 'reflect-metadata';
import { formatRef } from '@headgate/domain-contracts';
import { MemoryBackend } from '@headgate/testing';
import { unreachable, Edge } from '../testing/edge.js';
import { STEADY_READING } from '../testing/steady-reading.js';

const GIB = 1024 ** 3;
const DB = { kind: 'vm', context: 'lab', namespace: 'default', name: 'db' } as const;
const NO_VALUES = { cpu: null, memory: null, disk: null, network: null };
const USAGE = { cpu: 250, memory: { usedBytes: GIB, totalBytes: 4 * GIB }, disk: null, network: null };

interface Metrics {
  cpu: number | null;
  memory: object | null;
  t?: number;
}

describe('the resource usage', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = new Edge();
    edge.lab.engine.readings.set(formatRef(DB), STEADY_READING);
    await edge.open();
    await untilMeasured();
  });

  afterEach(() => edge.close());

  const get = async (path: string) => edge.send('GET', path);
  const history = async (name: string) =>
    (await get(`/api/vms/default/${name}/metrics/history`)).json as unknown as Metrics[];
  /** The first reading follows the start of the service. */
  const untilMeasured = async (): Promise<void> => {
    while ((await history('db')).length === 0);
  };

  test('of a running VM has every group that its backend measures, and a history', async () => {
    const { status, json } = await get('/api/vms/default/db/metrics');
    expect(status).toBe(200);
    expect(json).toEqual({ ...USAGE, t: expect.any(Number) });
    expect(await history('db')).toContainEqual(json);
  });

  test('of a stopped VM is unknown, and its history empty', async () => {
    expect((await get('/api/vms/default/web/metrics')).json).toEqual(NO_VALUES);
    expect(await history('web')).toEqual([]);
  });

  test('is unknown, with the reason, on a backend that can not measure, and its history empty', async () => {
    await edge.service.close();
    const limited = new Edge(new MemoryBackend('lab', { unavailable: { metrics: 'Memory needs a meter.' } }));
    try {
      await limited.open();
      const live = await limited.send('GET', '/api/vms/default/db/metrics');
      expect([live.status, live.json]).toEqual([200, { ...NO_VALUES, reason: 'Memory needs a meter.' }]);
      const past = await limited.send('GET', '/api/vms/default/db/metrics/history');
      expect([past.status, past.json]).toEqual([200, []]);
      const { contexts } = (await limited.send('GET', '/api/capabilities')).json as unknown as {
        contexts: { abilities: Record<string, unknown> }[];
      };
      expect(contexts[0]?.abilities['metrics']).toBe('Memory needs a meter.');
    } finally {
      await limited.close();
    }
    await edge.open();
  });

  test('needs a VM that exists, one match for its name, and for the present a context that answers', async () => {
    for (const path of ['metrics', 'metrics/history']) {
      expect((await get(`/api/vms/default/none/${path}`)).status).toBe(404);
      expect((await get(`/api/vms/default/UPPER/${path}`)).status).toBe(400);
      expect((await get(`/api/vms/default/twin/${path}`)).status).toBe(409);
      expect((await get(`/api/vms/default/twin/${path}?context=lab`)).status).toBe(200);
      expect((await get(`/api/vms/default/box/${path}`)).status).toBe(404);
    }
    expect((await get('/api/cts/default/box/metrics')).status).toBe(404);
    edge.lab.engine.disconnect(unreachable);
    expect((await get('/api/vms/default/db/metrics')).status).toBe(503);
    expect((await history('db'))[0]).toMatchObject(USAGE);
    edge.other.engine.disconnect(unreachable);
    expect((await get('/api/vms/default/db/metrics/history')).status).toBe(503);
  });

  test('is in a list on request, of VMs and of containers, and alone if wanted', async () => {
    const ref = formatRef(DB);
    const plain = (await get('/api/vms')).json as unknown as { ref: string }[];
    expect(plain.some((entry) => 'usage' in entry)).toBe(false);
    const whole = await get('/api/vms?usage=true');
    expect(whole.headers).not.toHaveProperty('etag');
    expect(whole.json).toEqual(plain.map((entry) => (entry.ref === ref ? { ...entry, usage: USAGE } : entry)));
    expect((await get('/api/vms?usage=only')).json).toEqual([{ ref, usage: USAGE }]);
    expect((await get('/api/vms?usage=only&q=web')).json).toEqual([]);
    expect((await get('/api/cts?usage=only')).json).toEqual([
      { ref: 'ct/lab/default/box', usage: expect.objectContaining({ memory: expect.any(Object) }) },
    ]);
    expect((await get('/api/vms?usage=some')).status).toBe(400);
  });

  test('of the nodes is next to their capacity', async () => {
    const nodes = (await get('/api/nodes')).json as unknown as {
      context: string;
      name: string;
      load: { cpu: unknown };
    }[];
    const node = nodes.find(({ context, name }) => context === 'lab' && name === 'memory-1');
    expect(node).toEqual({
      name: 'memory-1',
      ready: true,
      roles: 'control-plane,worker',
      kubelet: 'v1.0.0',
      arch: 'amd64',
      context: 'lab',
      capacity: { cpu: 16_000, memoryBytes: 64 * GIB },
      load: { cpu: node?.load.cpu, memoryBytes: 8 * GIB },
    });
  });

  test('of a VM that was just stopped is unknown immediately, and its history stays', async () => {
    expect((await edge.send('POST', '/api/vms/default/db/stop?force=true')).status).toBe(200);
    expect((await get('/api/vms/default/db/metrics')).json).toEqual(NO_VALUES);
    expect((await get('/api/vms?usage=only')).json).toEqual([]);
    expect((await history('db')).length).toBeGreaterThan(0);
  });

  test('of a VM that was deleted and created again starts empty', async () => {
    edge.lab.engine.put({ ...edge.lab.engine.vm(DB), uid: 'another' });
    expect(await history('db')).toEqual([]);
  });
});
