import type { ChangeView, VmView } from '@headgate/api-contracts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from './api.js';
import { processesWith } from './processes.js';
import { RunningService } from './running-service.js';
import { SimulatedCluster } from './simulated-cluster.js';
import { until } from './until.js';

const TIMEOUT_MS = 300_000;
const COUNT = 5;
const CHANGES = 12;

/** A list, and a moment at which it was the same before and after. */
interface Seen {
  readonly at: string;
  readonly vms: readonly VmView[];
}

/** The built service over a cluster that goes on, killed while it records. */
describe('the history of a killed service', () => {
  let folder: string;
  let cluster: SimulatedCluster;
  let service: RunningService | undefined;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-killed-'));
    cluster = await SimulatedCluster.start('lab');
    for (let index = 0; index < COUNT; index++)
      cluster.simulation.seedVm({
        name: `vm-${index}`,
        namespace: 'tailvm',
        status: 'Stopped',
        cpu: 1,
        memory: '256Mi',
        disk: '16Mi',
      });
  }, TIMEOUT_MS);
  afterAll(async () => {
    await service?.stop();
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (dataDir?: string): Promise<Api> => {
    const config = SimulatedCluster.configure(folder, [cluster]);
    service = await RunningService.start(['--config', config], dataDir === undefined ? {} : { dataDir });
    return new Api(service.url);
  };
  const list = async (api: Api, query = ''): Promise<VmView[]> =>
    (await api.send<VmView[]>('GET', `/api/vms${query}`)).body;
  const see = async (api: Api): Promise<Seen> => {
    const look = async () => {
      const before = await list(api);
      const at = new Date().toISOString();
      return { at, before, vms: await list(api) };
    };
    return until('the list does not change', look, ({ before, vms }) => JSON.stringify(before) === JSON.stringify(vms));
  };
  const askAt = async (api: Api, at: string) => {
    const answer = await fetch(`${api.url}/api/vms?at=${at}`);
    return { status: answer.status, gap: answer.headers.get('svc-gap'), vms: (await answer.json()) as VmView[] };
  };
  const untilRecorded = (api: Api): Promise<unknown> =>
    until(
      'the history is recorded',
      () => askAt(api, new Date().toISOString()),
      ({ status, gap }) => status === 200 && gap === null,
    );

  test(
    'has every list that was written, a gap while it was away, and the changes of that time',
    async () => {
      let api = await start();
      await until(
        'all VMs are listed',
        () => list(api),
        (vms) => vms.length === COUNT,
      );
      await untilRecorded(api);
      const seen: Seen[] = [];
      for (let index = 0; index < CHANGES; index++) {
        const path = `/api/vms/tailvm/vm-${index % COUNT}/tags`;
        expect((await api.send('POST', path, { tag: `t${index}`, on: true })).status).toBe(200);
        seen.push(await see(api));
      }
      // A list of the past has all changes until then on the disk.
      await list(api, `?at=${seen.at(-1)!.at}`);
      const { dataDir } = service!;
      const killedAfter = new Date().toISOString();
      for (const line of processesWith(dataDir).filter((one) => one.includes('main.js')))
        process.kill(Number.parseInt(line, 10), 'SIGKILL');
      await service!.interrupt();
      cluster.simulation.seedVm({
        name: 'meanwhile',
        namespace: 'tailvm',
        status: 'Stopped',
        cpu: 1,
        memory: '256Mi',
        disk: '16Mi',
      });
      const away = new Date().toISOString();
      api = await start(dataDir);
      await until(
        'the new VM is listed',
        () => list(api),
        (vms) => vms.length === COUNT + 1,
      );
      await untilRecorded(api);
      const last = seen.at(-1)!;
      for (const { at, vms } of seen.slice(0, -1))
        expect(await askAt(api, at)).toEqual({ status: 200, gap: null, vms });
      // After the last change, nothing says that there was no other one before the end.
      const unmarked = (await list(api, `?at=${last.at}`)).map(({ stale: _stale, ...vm }) => vm);
      expect(unmarked).toEqual(last.vms);
      const { gap, vms } = await askAt(api, away);
      expect(gap).toMatch(/^20.*Z\/20.*Z$/);
      expect(vms).toEqual(last.vms.map((vm) => ({ ...vm, stale: true })));
      const changes = (await api.send<ChangeView[]>('GET', `/api/ext/changes?from=${killedAfter}`)).body;
      expect(changes.find(({ type }) => type === 'gap')).toBeDefined();
      expect(changes.find(({ ref }) => ref === 'vm/lab/tailvm/meanwhile')).toMatchObject({
        type: 'added',
        inGap: true,
        cause: { by: 'gap' },
      });
    },
    TIMEOUT_MS,
  );
});
