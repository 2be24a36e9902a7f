import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ContextsView, ContextView, VmView } from '@headgate/api-contracts';
import { Api, type Answer } from './api.js';
import { processesWith } from './processes.js';
import { RunningService } from './running-service.js';
import { SimulatedCluster } from './simulated-cluster.js';
import { until } from './until.js';

const TIMEOUT_MS = 400_000;
const ARGS = ['--sandbox=5'];
const CONTEXTS = '/api/ext/contexts';
/** The parts of the requests of a change after which the service is killed; at the end, after the response. */
const KILLED_AT = [0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, Number.POSITIVE_INFINITY];

interface Changed {
  readonly context: ContextView;
  readonly code?: string;
}

describe('the settings of an added cluster', () => {
  let far: SimulatedCluster;
  let other: SimulatedCluster;
  let service: RunningService;
  let api: Api;

  beforeAll(async () => {
    [far, other] = [await SimulatedCluster.start('far'), await SimulatedCluster.start('other')];
    for (const [cluster, name] of [
      [far, 'web'],
      [other, 'moon'],
    ] as const)
      cluster.simulation.seedVm({
        name,
        namespace: 'tailvm',
        status: 'Running',
        cpu: 1,
        memory: '256Mi',
        disk: '16Mi',
      });
    service = await RunningService.start(ARGS);
    api = new Api(service.url);
    const request = { name: 'far', kind: 'kubevirt', settings: { kubeconfig: far.sandbox.kubeconfig('ann') } };
    expect((await api.send('POST', CONTEXTS, request)).status).toBe(201);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await service?.stop();
    await Promise.all([far?.close(), other?.close()]);
  });

  const changeTo = (kubeconfig: string, more: object = {}): Promise<Answer<Changed>> =>
    api.send<Changed>('PATCH', `${CONTEXTS}/far`, { settings: { kubeconfig }, ...more });
  const asUser = (user: string): Promise<Answer<Changed>> => changeTo(far.sandbox.kubeconfig(user));
  const context = async (): Promise<ContextView | undefined> =>
    (await api.send<ContextsView>('GET', CONTEXTS)).body.contexts.find(({ name }) => name === 'far');
  const untilUp = () =>
    until('the context is reachable', context, (one) => one?.state === 'up') as Promise<ContextView>;
  const vms = async (): Promise<VmView[]> =>
    (await api.send<VmView[]>('GET', '/api/vms')).body.filter((vm) => vm.context === 'far');
  const expectUsable = async (): Promise<void> => {
    expect(await vms()).toMatchObject([{ name: 'web' }]);
    expect((await api.send('POST', '/api/vms/tailvm/web/tags', { tag: 'used', on: true })).status).toBe(200);
  };
  /** Ends the process like a power failure, and starts it again. */
  const killAndRestart = async (): Promise<void> => {
    for (const line of processesWith(service.dataDir).filter((one) => one.includes('main.js')))
      process.kill(Number.parseInt(line, 10), 'SIGKILL');
    await service.interrupt();
    service = await RunningService.start(ARGS, { dataDir: service.dataDir });
    api = new Api(service.url);
  };

  test(
    'rotate a credential while the VMs go on, and refuse one that does not work',
    async () => {
      const before = far.objects('tailvm');
      const former = far.sandbox.tokenForUser('ann');
      const { status, body } = await asUser('bob');
      expect([status, body.context]).toMatchObject([200, { state: 'up', settings: { user: 'bob' } }]);
      far.sandbox.revoke(former);
      await expectUsable();
      const refused = await changeTo(far.sandbox.kubeconfig().replace(/token: .*/, `token: ${former}`));
      expect([refused.status, refused.body.code]).toEqual([409, 'CONFLICT']);
      expect(await context()).toMatchObject({ state: 'up', settings: { user: 'bob' } });
      await expectUsable();
      expect(far.objects('tailvm')).toEqual(before);
      const answers = await Promise.all([api.send('GET', '/api/ext/journal'), api.send('GET', CONTEXTS)]);
      for (const token of [former, far.sandbox.tokenForUser('bob')]) {
        expect(JSON.stringify(answers)).not.toContain(token);
        expect(service.said).not.toContain(token);
      }
    },
    TIMEOUT_MS,
  );

  test(
    'let one of several changes win, or a removal, at the same moment',
    async () => {
      const answers = await Promise.all(['ann', 'bob', 'eve'].map(asUser));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      const winner = answers.find(({ status }) => status === 200);
      const shown = await untilUp();
      expect(shown.settings).toEqual(winner?.body.context.settings);
      const [changed, removed] = await Promise.all([asUser('ann'), api.send('DELETE', `${CONTEXTS}/far`)]);
      const [won, lost] = changed.status === 200 ? [changed, removed] : [removed, changed];
      expect(won.status).toBe(200);
      // The one that came later finds a context that is changing, or none.
      expect([404, 409]).toContain(lost.status);
      if (removed.status === 200) {
        const request = { name: 'far', kind: 'kubevirt', settings: { kubeconfig: far.sandbox.kubeconfig('ann') } };
        expect((await api.send('POST', CONTEXTS, request)).status).toBe(201);
      }
      await expectUsable();
    },
    TIMEOUT_MS,
  );

  test(
    'are the former or the new ones after a kill at any moment',
    async () => {
      const countRequests = (): number => Object.values(far.takeRequests()).reduce((sum, one) => sum + one, 0);
      countRequests();
      expect((await asUser('ann')).status).toBe(200);
      const whole = countRequests();
      let current = 'ann';
      const outcomes = new Set<string>();
      for (const part of KILLED_AT) {
        const next = current === 'ann' ? 'bob' : 'ann';
        let status: number | undefined;
        const changing = asUser(next).then(
          (answer) => (status = answer.status),
          () => undefined,
        );
        let seen = 0;
        while (seen <= part * whole && status === undefined) {
          seen += countRequests();
          await new Promise((resolve) => setImmediate(resolve));
        }
        await killAndRestart();
        await changing;
        const { settings } = await untilUp();
        expect(['ann', 'bob']).toContain(settings['user']);
        if (status !== undefined) expect([status, settings['user']]).toEqual([200, next]);
        expect(existsSync(join(service.dataDir, 'context-tests'))).toBe(false);
        outcomes.add(settings['user'] === next ? 'new' : 'former');
        current = String(settings['user']);
        await expectUsable();
        countRequests();
      }
      expect(outcomes).toEqual(new Set(['former', 'new']));
    },
    TIMEOUT_MS,
  );

  test(
    'lead to another cluster and back, and change nothing in either',
    async () => {
      const before = [far.objects('tailvm'), other.objects('tailvm')];
      expect((await changeTo(other.sandbox.kubeconfig())).status).toBe(200);
      await until(
        'the VM of the other cluster is listed',
        vms,
        (list) => list.map(({ name }) => name).join() === 'moon',
      );
      expect((await api.send('POST', '/api/vms/tailvm/web/stop')).status).toBe(404);
      await other.close();
      await until('the context is lost', context, (one) => one?.state === 'lost');
      expect((await changeTo(far.sandbox.kubeconfig('ann'))).status).toBe(200);
      await until('the VM of the cluster is listed', vms, (list) => list.map(({ name }) => name).join() === 'web');
      expect([far.objects('tailvm'), other.objects('tailvm')]).toEqual(before);
    },
    TIMEOUT_MS,
  );
});
