import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerView, SnapshotView, TaskView } from '@headgate/api-contracts';
import { INCUS_FLAVORS, PrivateIncusd, TINY_ALIAS, whyIncusIsUnavailable } from '@headgate/testing';
import { Api } from './api.js';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { untilRehearsed } from './until-rehearsed.js';
import { until } from './until.js';

const CONTEXT = 'local-containers';
const OTHER = 'other-containers';
const NAME = 'box';
const CLONE = 'copy';
const PATH = `/api/ext/cts/default/${NAME}`;
const FILES = 'cat /root/file /data/file';
const VOLUME = `${NAME}-ct-data`;
const FIRST_START_TIMEOUT_MS = 300_000;

describe.each(INCUS_FLAVORS)('%s', (flavor) => {
  const why = CHROMIUM === undefined ? 'no Chromium' : whyIncusIsUnavailable(flavor);
  describeIf(why, 'containers', () => {
    let daemon: PrivateIncusd;
    let other: PrivateIncusd;
    let folder: string;
    let service: RunningService;
    let api: Api;
    let browser: Browser;

    beforeAll(async () => {
      daemon = await PrivateIncusd.start(flavor, { name: 'node-1' });
      other = await PrivateIncusd.start(flavor, { name: 'node-2' });
      folder = await mkdtemp(join(tmpdir(), 'hgct-'));
      const config = join(folder, 'headgate.yaml');
      // JSON is YAML, too.
      const contexts = [
        { name: CONTEXT, kind: 'incus', socket: daemon.socket },
        { name: OTHER, kind: 'incus', socket: other.socket },
      ];
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
      await other?.close();
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
    const volumes = async (of: PrivateIncusd): Promise<string[]> =>
      (await of.run('storage', 'volume', 'list', 'default', 'type=custom', '-c', 'n', '-f', 'csv'))
        .split('\n')
        // Incus lists the snapshots of volumes as well.
        .filter((name) => name !== '' && name !== `${VOLUME}/before`);
    const snapshots = async (): Promise<SnapshotView[]> =>
      (await api.send<SnapshotView[]>('GET', `${PATH}/snapshots`)).body;
    const untilFiles = (name: string, content: string) =>
      until(
        `${name} has its files`,
        // It is stopped for a moment.
        () => inContainer(name, FILES).catch(String),
        (found) => found === content,
      );
    /** A user may do the next thing now. */
    const untilIdle = () =>
      until(
        'no task runs',
        async () => (await api.send<TaskView[]>('GET', '/api/tasks')).body,
        (tasks) => tasks.every(({ status }) => status !== 'running'),
      );
    const open = (tab: string, context = CONTEXT) =>
      browser.page.goto(`${service.url}/#/containers/${context}/default/${NAME}${tab}`);
    /** Presses the button of the plan. */
    const confirm = (label: string): Promise<void> =>
      browser.page.locator('.hg-side-panel').getByRole('button', { name: label, exact: true }).last().click();
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

    test('shows it on the first page, which has no VMs', async () => {
      const { page } = browser;
      await page.goto(`${service.url}/`);
      const card = page.locator('.hg-first-way', { has: page.getByRole('heading', { name: 'Containers' }) });
      await card.getByText('Running').waitFor();
      for (const width of [400, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        expect([width, await violations(page)]).toEqual([width, []]);
      }
      await card.getByRole('link', { name: NAME, exact: true }).click();
      await page.getByRole('heading', { name: NAME, level: 1 }).waitFor();
    });

    test('writes to it in the terminal of the page', async () => {
      await open('/terminal');
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
      await open('/hardware');
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
    });

    test('returns the files to a snapshot of the page, also those of /data', async () => {
      const { page } = browser;
      await open('/snapshots');
      await page.getByRole('textbox', { name: 'Name of the snapshot' }).fill('before');
      await page.getByRole('button', { name: 'Create snapshot' }).click();
      await until('the snapshot is ready', snapshots, ([one]) => one?.ready === true);
      await untilIdle();
      expect(await snapshots()).toMatchObject([{ name: 'before', phase: 'Succeeded' }]);
      await inContainer(NAME, 'echo changed > /root/file; echo changed > /data/file; sync');
      const restore = page.getByRole('button', { name: 'Restore before' });
      await until(
        'the page has seen the end of the task',
        () => restore.getAttribute('aria-disabled'),
        (off) => off !== 'true',
      );
      await restore.click();
      await confirm('Restore before');
      await untilFiles(NAME, 'root\ndata\n');
      await untilIdle();
      await untilPhase('Running');
    });

    test('clones it with its files, and deletes the clone without those of the original', async () => {
      const { page } = browser;
      const path = `/api/cts/default/${CLONE}`;
      await page.reload();
      await page.getByRole('button', { name: 'Clone…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox', { name: 'Name of the clone' }).fill(CLONE);
      await dialog.getByRole('button', { name: 'Show the plan' }).click();
      await confirm('Clone');
      await untilPhase('Stopped', CLONE);
      await untilIdle();
      await send('POST', `${path}/start`);
      await untilPhase('Running', CLONE);
      expect(await inContainer(CLONE, FILES)).toBe('root\ndata\n');
      await inContainer(CLONE, 'rm /data/file');
      await send('DELETE', path);
      await untilPhase(undefined, CLONE);
      expect(await volumes(daemon)).toEqual([VOLUME]);
      expect(await inContainer(NAME, FILES)).toBe('root\ndata\n');
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
      await open('/terminal');
      await run('cat /run/file | tr a-z A-Z', /KEPT/);
      await daemon.run('delete', 'new');
    });

    test('moves it to another server with its files and its snapshot, and leaves those of other clients alone', async () => {
      for (const each of [daemon, other]) {
        await each.run('init', TINY_ALIAS, 'foreign');
        await each.run('storage', 'volume', 'create', 'default', 'foreign-data');
      }
      const { page } = browser;
      await open('');
      await page.reload();
      await page.getByRole('button', { name: 'Move…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Destination').selectOption(OTHER);
      await dialog.getByRole('switch', { name: 'Delete the source after the copy is verified' }).check();
      await dialog.getByText(`Delete ${NAME} in ${CONTEXT}`).waitFor();
      await dialog.getByRole('button', { name: 'Move', exact: true }).click();
      await page.getByText(`${NAME} is being moved`).waitFor();
      await until(
        'it is at the other server only',
        async () => (await list()).filter(({ name }) => name === NAME),
        ([one, ...others]) => one?.context === OTHER && one.phase === 'Running' && others.length === 0,
      );
      await untilIdle();
      expect(await other.run('exec', NAME, '--', 'sh', '-c', FILES)).toBe('root\ndata\n');
      expect(await snapshots()).toMatchObject([{ name: 'before', phase: 'Succeeded', ready: true }]);
      expect([await daemon.instances(), await volumes(daemon)]).toEqual([['foreign'], ['foreign-data']]);
      expect([await other.instances(), await volumes(other)]).toEqual([
        [NAME, 'foreign'],
        [VOLUME, 'foreign-data'],
      ]);
    });

    test('restores it to its snapshot at the other server as well', async () => {
      await other.run('exec', NAME, '--', 'sh', '-c', 'echo changed > /root/file; rm /data/file; sync');
      await send('POST', `${PATH}/snapshots/before/restore`);
      await untilPhase('Running');
      expect(await other.run('exec', NAME, '--', 'sh', '-c', FILES)).toBe('root\ndata\n');
    });

    test('deletes it with its volume and its snapshot, and leaves the container of another client alone', async () => {
      await open('', OTHER);
      await browser.page.reload();
      await browser.page.getByRole('button', { name: 'More actions' }).click();
      await browser.page.getByRole('menuitem', { name: 'Delete…' }).click();
      const panel = browser.page.locator('.hg-side-panel');
      await panel.getByRole('textbox', { name: `Type ${NAME} to confirm` }).fill(NAME);
      await panel.getByRole('button', { name: `Delete ${NAME}` }).click();
      await untilPhase(undefined);
      expect((await list()).map(({ name, phase }) => [name, phase])).toEqual([
        ['foreign', 'Stopped'],
        ['foreign', 'Stopped'],
      ]);
      for (const each of [daemon, other]) {
        expect([await each.instances(), await volumes(each)]).toEqual([['foreign'], ['foreign-data']]);
        expect(await each.run('storage', 'volume', 'list', 'default')).not.toContain(VOLUME);
      }
      expect(browser.errors).toEqual([]);
      expect(browser.foreign).toEqual([]);
    });
  });
});
