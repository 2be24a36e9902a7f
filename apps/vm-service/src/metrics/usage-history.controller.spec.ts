import 'reflect-metadata';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatRef } from '@headgate/domain-contracts';
import { withStatus } from '@headgate/testing';
import { Edge, unreachable } from '../testing/edge.js';
import { STEADY_READING } from '../testing/steady-reading.js';

const GIB = 1024 ** 3;
const DB = { kind: 'vm', context: 'lab', namespace: 'default', name: 'db' } as const;
const USAGE = { cpu: 250, memory: { usedBytes: GIB, totalBytes: 4 * GIB }, disk: null, network: null };
const STEPS = { '1h': 15, '24h': 180, '7d': 900, '30d': 3600 };

interface History {
  readonly range: string;
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
  readonly recordedSince?: number;
  readonly points: readonly { readonly t: number; readonly max: object }[];
}

describe('the history of the resource usage', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = new Edge();
    edge.lab.engine.readings.set(formatRef(DB), STEADY_READING);
    await edge.open();
    await untilMeasured();
  });

  afterEach(() => edge.close());

  const get = (path: string) => edge.send('GET', path);
  const history = async (range: string, name = 'db') =>
    (await get(`/api/ext/vms/default/${name}/metrics/history?range=${range}`)).json as unknown as History;
  /** The first reading follows the start of the service. */
  const untilMeasured = async (): Promise<void> => {
    while ((await history('1h')).points.length === 0);
  };

  /** Opens the service again, over a backend that reports no usage from now on. */
  const openUnmeasured = (): Promise<unknown> => {
    edge.lab.engine.readings.clear();
    edge.lab.engine.put(withStatus(edge.lab.engine.vm(DB), 'Stopped'));
    return edge.open();
  };

  test('has averages and maxima in steps that become longer with the range', async () => {
    for (const [range, seconds] of Object.entries(STEPS)) {
      const answer = await history(range);
      expect(answer).toMatchObject({ range, stepMs: seconds * 1000 });
      expect(answer.points.at(-1)).toEqual({ ...USAGE, t: expect.any(Number), max: USAGE });
      expect(answer.recordedSince).toBe(answer.points[0]?.t);
      expect(answer.to - answer.from).toBeGreaterThanOrEqual(3_600_000);
      if (range !== '1h') expect(answer.points.every(({ t }) => t % answer.stepMs === 0)).toBe(true);
    }
    const { json } = await get('/api/ext/vms/default/db/metrics/history');
    expect(json).toMatchObject({ range: '1h' });
  });

  test('is empty for a VM that was not measured, and says nothing about when it was', async () => {
    for (const range of Object.keys(STEPS)) {
      const answer = await history(range, 'web');
      expect(answer.points).toEqual([]);
      expect(answer).not.toHaveProperty('recordedSince');
    }
  });

  test('refuses any other range, and names those that it has', async () => {
    for (const range of ['90d', '', '1H', '24h&range=7d']) {
      const { status, json } = await get(`/api/ext/vms/default/db/metrics/history?range=${range}`);
      expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
      expect(json.error).toContain('range must be one of the following values: 1h, 24h, 7d, 30d');
    }
    // The route of the contract has no such parameter, and always the samples of an hour.
    expect((await get('/api/vms/default/db/metrics/history?range=90d')).json).toEqual([
      { ...USAGE, t: expect.any(Number) },
    ]);
  });

  test('needs a VM that exists, and one match for its name', async () => {
    const path = 'metrics/history?range=7d';
    expect((await get(`/api/ext/vms/default/none/${path}`)).status).toBe(404);
    expect((await get(`/api/ext/vms/default/UPPER/${path}`)).status).toBe(400);
    expect((await get(`/api/ext/vms/default/twin/${path}`)).status).toBe(409);
    expect((await get(`/api/ext/vms/default/twin/${path}&context=lab`)).status).toBe(200);
    edge.lab.engine.disconnect(unreachable);
    expect((await history('24h')).points).toHaveLength(1);
  });

  test('is the same after a restart, except for the last hour, which is in memory', async () => {
    const before = await history('30d');
    await edge.service.close();
    await openUnmeasured();
    for (const range of ['24h', '7d', '30d']) expect((await history(range)).points[0]).toMatchObject(USAGE);
    expect((await history('30d')).recordedSince).toBe(before.recordedSince);
    expect((await history('1h')).points).toEqual([]);
  });

  test('is in files that only the service may read', async () => {
    await edge.service.close();
    const folder = join(edge.folder, 'usage-history');
    expect(readdirSync(folder)).toHaveLength(1);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    await edge.open();
  });

  test('starts without the content of a damaged file', async () => {
    await edge.service.close();
    const folder = join(edge.folder, 'usage-history');
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), 'damaged');
    await openUnmeasured();
    expect((await get('/healthz')).status).toBe(200);
    expect((await history('24h')).points).toEqual([]);
  });

  test('of a VM that was deleted and created again starts empty', async () => {
    edge.lab.engine.readings.clear();
    edge.lab.engine.put({ ...edge.lab.engine.vm(DB), uid: 'another' });
    for (const range of Object.keys(STEPS)) expect((await history(range)).points).toEqual([]);
  });
});
