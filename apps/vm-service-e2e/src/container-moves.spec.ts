import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerView, MovePlanView } from '@headgate/api-contracts';
import { INCUS_FLAVORS, PrivateIncusd, TINY_ALIAS, whyIncusIsUnavailable } from '@headgate/testing';
import { Api } from './api.js';
import { describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const NAME = 'box';
const FIRST_START_TIMEOUT_MS = 300_000;
const FILES = 'cat /root/file /data/file';

describe.each(INCUS_FLAVORS)('%s', (flavor) => {
  describeIf(whyIncusIsUnavailable(flavor), 'moves of containers between two servers', () => {
    let alpha: PrivateIncusd;
    let beta: PrivateIncusd;
    let folder: string;
    let service: RunningService;
    let api: Api;

    beforeAll(async () => {
      [alpha, beta] = await Promise.all([PrivateIncusd.start(flavor), PrivateIncusd.start(flavor)]);
      folder = await mkdtemp(join(tmpdir(), 'hgcm-'));
      const config = join(folder, 'headgate.yaml');
      // JSON is YAML, too.
      const contexts = Object.entries({ alpha, beta }).map(([name, { socket }]) => ({ name, kind: 'incus', socket }));
      await writeFile(config, JSON.stringify({ contexts }));
      service = await RunningService.start(['--config', config]);
      api = new Api(service.url);
    }, FIRST_START_TIMEOUT_MS);

    afterAll(async () => {
      await service?.stop();
      await alpha?.close();
      await beta?.close();
      if (folder) await rm(folder, { recursive: true, force: true });
    }, FIRST_START_TIMEOUT_MS);

    const send = async <T = Record<string, string>>(method: string, path: string, body?: object): Promise<T> => {
      const answer = await api.send<T>(method, path, body);
      expect([path, answer.status < 300, answer.body]).toEqual([path, true, answer.body]);
      return answer.body;
    };
    const found = async (name = NAME): Promise<ContainerView[]> =>
      (await send<ContainerView[]>('GET', '/api/cts')).filter((one) => one.name === name);
    const untilPhase = (context: string, phase: string) =>
      until(
        `${NAME} is ${phase} in ${context}`,
        () => found(),
        ([one, ...others]) => others.length === 0 && one?.context === context && one.phase === phase,
      );
    const request = (from: string, toContext: string, more: object = {}) => ({
      ref: `ct/${from}/default/${NAME}`,
      toBackend: 'incus',
      toContext,
      deleteSource: true,
      ...more,
    });
    const move = async (body: object) => {
      const { task = '' } = await send('POST', '/api/move', body);
      return api.untilTask(task);
    };
    const inside = (daemon: PrivateIncusd, script: string): Promise<string> =>
      daemon.run('exec', NAME, '--', 'sh', '-c', script);
    const volumes = async (daemon: PrivateIncusd): Promise<string[]> =>
      (await daemon.run('storage', 'volume', 'list', 'default', 'type=custom', '-c', 'n', '-f', 'csv'))
        .split('\n')
        .filter((name) => name !== '');

    test('offers both servers as destinations of containers', async () => {
      const { destinations } = await send<{ destinations: object[] }>('GET', '/api/move/destinations?kind=ct');
      expect(destinations).toEqual(['alpha', 'beta'].map((context) => ({ backend: 'incus', context, can: true })));
    });

    test('moves a running container with its files and its folder, and starts it there', async () => {
      const size = { cpu: 1, mem: '64Mi', disk: '64Mi' };
      await send('POST', '/api/cts', { name: NAME, image: TINY_ALIAS, ...size, context: 'alpha' });
      await untilPhase('alpha', 'Running');
      await send('POST', '/api/folders', { path: 'prod' });
      await send('POST', '/api/folders/members', { path: 'prod', ref: `ct/alpha/default/${NAME}` });
      await inside(alpha, 'echo grüße > /root/file; echo data > /data/file; sync');
      await alpha.run('init', TINY_ALIAS, 'foreign');

      const plan = await send<MovePlanView>('POST', '/api/move?dryRun=true', request('alpha', 'beta'));
      expect([plan.ok, plan.refusals]).toEqual([true, []]);
      expect(plan.steps.map(({ name }) => name)).toEqual([
        ...['stop', 'copy', 'volume', 'create', 'verify', 'commit', 'folder', 'start', 'delete'],
      ]);
      expect(await move(request('alpha', 'beta'))).toMatchObject({ status: 'done', error: '' });
      await untilPhase('beta', 'Running');
      expect(await inside(beta, FILES)).toBe('grüße\ndata\n');
      expect([await alpha.instances(), await volumes(alpha)]).toEqual([['foreign'], []]);
      expect(await volumes(beta)).toEqual([`${NAME}-ct-data`]);
      expect((await found())[0]).toMatchObject({ folder: 'prod', image: TINY_ALIAS });
    });

    test('is undone when the destination is killed in the middle, and is possible afterwards', async () => {
      const body = request('beta', 'alpha');
      const { task = '' } = await send('POST', '/api/move', body);
      await until(
        'the copy has begun',
        async () => (await send<{ step: string }>('GET', `/api/tasks/${task}`)).step,
        (step) => step !== 'stop' && step !== '',
      );
      await alpha.kill();
      await alpha.resume();
      const { status } = await api.untilTask(task);
      // Which of both depends on the moment; the container is whole in each case.
      if (status === 'error') {
        await untilPhase('beta', 'Running');
        expect([await alpha.instances(), await volumes(alpha)]).toEqual([['foreign'], []]);
        expect(await move(body)).toMatchObject({ status: 'done', error: '' });
      }
      await untilPhase('alpha', 'Running');
      expect(await inside(alpha, FILES)).toBe('grüße\ndata\n');
      expect([await beta.instances(), await volumes(beta)]).toEqual([[], []]);
    });

    test('refuses a name that another client uses there', async () => {
      await beta.run('init', TINY_ALIAS, NAME);
      const { status, body } = await api.send<MovePlanView>('POST', '/api/move', request('alpha', 'beta'));
      expect([status, body.refusals.map(({ code }) => code)]).toEqual([409, ['ALREADY_EXISTS']]);
      await beta.run('delete', NAME);
    });

    test('keeps the source when a copy is wanted, and deletes each with its own volume', async () => {
      await until(
        'the list has one',
        () => found(),
        (all) => all.length === 1,
      );
      const copied = await move(request('alpha', 'beta', { deleteSource: false, name: 'copy' }));
      expect(copied).toMatchObject({ status: 'done', error: '' });
      expect(await found()).toMatchObject([{ context: 'alpha', phase: 'Stopped' }]);
      expect(await found('copy')).toMatchObject([{ context: 'beta', phase: 'Running' }]);
      await send('DELETE', `/api/cts/default/${NAME}?context=alpha`);
      expect(await beta.run('exec', 'copy', '--', 'cat', '/data/file')).toBe('data\n');
      await send('DELETE', '/api/cts/default/copy?context=beta');
      await until(
        'both are gone',
        async () => [...(await found()), ...(await found('copy'))],
        (all) => all.length === 0,
      );
      expect([await alpha.instances(), await beta.instances()]).toEqual([['foreign'], []]);
      expect([await volumes(alpha), await volumes(beta)]).toEqual([[], []]);
    });
  });
});
