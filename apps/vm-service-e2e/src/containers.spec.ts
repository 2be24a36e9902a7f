import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerView } from '@headgate/api-contracts';
import { INCUS_FLAVORS, PrivateIncusd, TINY_ALIAS, whyIncusIsUnavailable } from '@headgate/testing';
import { Api } from './api.js';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { untilRehearsed } from './until-rehearsed.js';
import { until } from './until.js';

const CONTEXT = 'local-containers';
const NAME = 'box';
const CLONE = 'copy';
const PATH = `/api/ext/cts/default/${NAME}`;
const FIRST_START_TIMEOUT_MS = 300_000;

describe.each(INCUS_FLAVORS)('%s', (flavor) => {
  const why = CHROMIUM === undefined ? 'no Chromium' : whyIncusIsUnavailable(flavor);
  describeIf(why, 'containers', () => {
    let daemon: PrivateIncusd;
    let folder: string;
    let service: RunningService;
    let api: Api;
    let browser: Browser;

    beforeAll(async () => {
      daemon = await PrivateIncusd.start(flavor, { name: 'node-1' });
      folder = await mkdtemp(join(tmpdir(), 'hgct-'));
      const config = join(folder, 'headgate.yaml');
      // JSON is YAML, too.
      const contexts = [{ name: CONTEXT, kind: 'incus', socket: daemon.socket }];
      await writeFile(config, JSON.stringify({ contexts }));
      service = await RunningService.start(['--config', config]);
      api = new Api(service.url);
      browser = await openBrowser(service.url);
      await browser.page.goto(`${service.url}/#/containers`);
    }, FIRST_START_TIMEOUT_MS);

    afterAll(async () => {
      await browser?.close();
      await service?.stop();
      await daemon?.close();
      if (folder) await rm(folder, { recursive: true, force: true });
    });

    const list = async (): Promise<ContainerView[]> => (await api.send<ContainerView[]>('GET', '/api/cts')).body;
    /** Undefined when it is not in the list, and the status of the answer when there is no list. */
    const phaseOf = async (name = NAME): Promise<string | number | undefined> => {
      const { status, body } = await api.send<ContainerView[]>('GET', '/api/cts');
      return status === 200 ? body.find((one) => one.name === name)?.phase : status;
    };
    const untilPhase = (phase: string | undefined, name = NAME) =>
      until(
        `${name} is ${phase ?? 'gone'}`,
        () => phaseOf(name),
        (found) => found === phase,
      );
    /** @returns the answer, once its task has succeeded if it names one */
    const send = async (method: string, path: string, body?: object): Promise<unknown> => {
      const answer = await api.send<{ readonly task?: string }>(method, path, body);
      expect([answer.status, answer.body]).toEqual([200, answer.body]);
      const { task } = answer.body;
      if (task !== undefined) expect(await api.untilTask(task)).toMatchObject({ status: 'done', error: '' });
      return answer.body;
    };
    const inContainer = (name: string, script: string): Promise<string> =>
      daemon.run('exec', name, '--', 'sh', '-c', script);
    const screen = async (): Promise<string> =>
      (await browser.page.locator('.xterm-rows').innerText()).replaceAll('\u00a0', ' ');
    /** Types a command in the terminal of the page, and waits for its output. */
    const run = async (command: string, output: RegExp): Promise<void> => {
      await until('the prompt appears', screen, (seen) => /# *$/.test(seen.trimEnd()));
      await browser.page.locator('.xterm').click();
      await browser.page.keyboard.type(`${command}\r`);
      await until(`the terminal shows ${String(output)}`, screen, (seen) => output.test(seen));
    };
    const press = async (action: string): Promise<void> => {
      await browser.page.getByRole('button', { name: action, exact: true }).click();
      await browser.page
        .locator('.hg-side-panel')
        .getByRole('button', { name: `${action} ${NAME}` })
        .click();
    };

    test('creates a container on the page', async () => {
      const { page } = browser;
      await page
        .getByRole('button', { name: /^Create/ })
        .first()
        .click();
      const form = page.getByRole('form', { name: 'Create container' });
      await form.getByRole('textbox', { name: 'Image' }).fill(TINY_ALIAS);
      await form.getByRole('textbox', { name: 'Name', exact: true }).fill(NAME);
      await form.getByRole('spinbutton', { name: 'CPUs' }).fill('1');
      await form.getByLabel('Memory', { exact: true }).fill('64Mi');
      await form.getByLabel('Data volume', { exact: true }).fill('64Mi');
      await untilRehearsed(page);
      await form.getByRole('button', { name: `Create ${NAME}` }).click();
      await untilPhase('Running');
      expect(await list()).toMatchObject([{ name: NAME, context: CONTEXT, image: TINY_ALIAS, node: 'node-1' }]);
    });

    test('writes to it in the terminal of the page', async () => {
      await browser.page.goto(`${service.url}/#/containers/${CONTEXT}/default/${NAME}/terminal`);
      await run('echo root > /root/file; echo data > /data/file; hostname | tr a-z A-Z', /BOX/);
    });

    test('stops it and starts it, and finds it as it was left', async () => {
      await press('Stop');
      await untilPhase('Stopped');
      await browser.page.getByRole('button', { name: 'Start', exact: true }).click();
      await untilPhase('Running');
      await browser.page.reload();
      await run('cat /root/file /data/file | tr a-z A-Z', /ROOT\s+DATA/);
    });

    test('changes its memory on the page while it runs', async () => {
      const { page } = browser;
      await page.goto(`${service.url}/#/containers/${CONTEXT}/default/${NAME}/hardware`);
      const memory = page.getByRole('textbox', { name: 'Memory' });
      await memory.waitFor();
      for (const width of [400, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        const overflow = (): number => document.documentElement.scrollWidth - document.documentElement.clientWidth;
        expect([width, await violations(page), await page.evaluate(overflow)]).toEqual([width, [], 0]);
      }
      await memory.fill('128Mi');
      await page.getByRole('button', { name: 'Review 1 change…' }).click();
      await page.locator('.hg-side-panel').getByRole('button', { name: 'Apply 1 change' }).click();
      await until(
        'the list shows the new size',
        async () => (await list())[0]?.mem,
        (mem) => mem === '128Mi',
      );
      expect(await daemon.run('config', 'get', NAME, 'limits.memory')).toBe(`${128 * 1024 ** 2}B\n`);
      expect(await inContainer(NAME, 'cat /root/file')).toBe('root\n');
      await page.goto(`${service.url}/#/containers/${CONTEXT}/default/${NAME}/terminal`);
    });

    test('returns the files to a snapshot, also those of /data', async () => {
      await send('POST', `${PATH}/snapshots`, { name: 'before' });
      expect(await send('GET', `${PATH}/snapshots`)).toMatchObject([
        { name: 'before', phase: 'Succeeded', ready: true },
      ]);
      await inContainer(NAME, 'echo changed > /root/file; echo changed > /data/file');
      await send('POST', `${PATH}/snapshots/before/restore`);
      await untilPhase('Running');
      expect(await inContainer(NAME, 'cat /root/file /data/file')).toBe('root\ndata\n');
      await send('DELETE', `${PATH}/snapshots/before`);
      expect(await send('GET', `${PATH}/snapshots`)).toEqual([]);
    });

    test('clones it with its files, and deletes the clone without those of the original', async () => {
      const path = `/api/cts/default/${CLONE}`;
      await send('POST', `${PATH}/clone`, { target: CLONE });
      await untilPhase('Stopped', CLONE);
      await send('POST', `${path}/start`);
      await untilPhase('Running', CLONE);
      expect(await inContainer(CLONE, 'cat /root/file /data/file')).toBe('root\ndata\n');
      await inContainer(CLONE, 'rm /data/file');
      await send('DELETE', path);
      await untilPhase(undefined, CLONE);
      expect(await inContainer(NAME, 'cat /root/file /data/file')).toBe('root\ndata\n');
    });

    test('shows what the tools of the engine change', async () => {
      await daemon.run('stop', '--force', NAME);
      await untilPhase('Stopped');
      await daemon.run('start', NAME);
      await untilPhase('Running');
    });

    test('is right again when the daemon was killed, and the container was not', async () => {
      await daemon.run('exec', NAME, '--', 'sh', '-c', 'echo kept > /run/file');
      await daemon.kill();
      await daemon.resume();
      await daemon.run('init', TINY_ALIAS, 'new');
      await until(
        'the new container is listed',
        () => phaseOf('new'),
        (phase) => phase === 'Stopped',
      );
      expect(await phaseOf()).toBe('Running');
      await browser.page.reload();
      await run('cat /run/file | tr a-z A-Z', /KEPT/);
      await daemon.run('delete', 'new');
    });

    test('deletes it with its volume, and leaves the container of another client alone', async () => {
      await daemon.run('init', TINY_ALIAS, 'foreign');
      await browser.page.getByRole('button', { name: 'More actions' }).click();
      await browser.page.getByRole('menuitem', { name: 'Delete…' }).click();
      const panel = browser.page.locator('.hg-side-panel');
      await panel.getByRole('textbox', { name: `Type ${NAME} to confirm` }).fill(NAME);
      await panel.getByRole('button', { name: `Delete ${NAME}` }).click();
      await untilPhase(undefined);
      expect(await phaseOf('foreign')).toBe('Stopped');
      expect(await daemon.instances()).toEqual(['foreign']);
      const volumes = await daemon.run('storage', 'volume', 'list', 'default', '--format', 'csv');
      expect(volumes.split('\n').filter((line) => line.startsWith('custom,'))).toEqual([]);
      expect(browser.errors).toEqual([]);
      expect(browser.foreign).toEqual([]);
    });
  });
});
