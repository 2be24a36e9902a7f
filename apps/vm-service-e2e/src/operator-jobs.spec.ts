import type { ContainerView, SnapshotView, TaskView, VmView } from '@headgate/api-contracts';
import type { Locator, Page, Route } from 'playwright-core';
import { Api } from './api.js';
import { openBrowser, type Browser } from './browser.js';
import { countClicks } from './count-clicks.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { untilRehearsed } from './until-rehearsed.js';
import { until } from './until.js';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5J5p5Vq0r3rW3vYw1S5m9mVw9m3d6m7m8m9m0m1m2m ann@laptop';

/**
 * What operators do every day, from the list of machines on, with the number of clicks and keys that it takes. The
 * characters of a text that is typed into a field are not counted. The numbers are in docs/measurements.md: a change
 * that needs more of them fails.
 */
describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the jobs of an operator', () => {
  let service: RunningService;
  let api: Api;
  let browser: Browser;
  let page: Page;
  let vms: readonly VmView[];

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=200']);
    api = new Api(service.url);
    browser = await openBrowser(service.url);
    page = browser.page;
    vms = (await api.send<VmView[]>('GET', '/api/vms')).body;
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const panel = (): Locator => page.locator('.hg-side-panel');
  const link = (name: string): Locator => page.getByRole('link', { name, exact: true });
  const confirm = (name: RegExp): Promise<void> => panel().getByRole('button', { name }).last().click();
  /** The machine in this place among those of a stage with this status. */
  const machine = (stage: string, status: VmView['status'] = 'Running', place = 0): VmView => {
    const found = vms.filter((vm) => vm.status === status && vm.tags.includes(stage) && !vm.isTemplate)[place];
    if (!found) throw new Error(`the sandbox has no such machine of ${stage}: ${status}`);
    return found;
  };
  /** Opens the list, and counts from there. */
  const begin = async (query = ''): Promise<() => Promise<number>> => {
    await page.goto('about:blank');
    await page.goto(`${service.url}/#/vms${query === '' ? '' : `?q=${encodeURIComponent(query)}`}`);
    await page.locator('.hg-row').first().waitFor();
    // Until then, the list says "Loading all VMs", and has the first rows only.
    await page
      .getByText(/\d VMs$/)
      .first()
      .waitFor();
    return countClicks(page);
  };
  const beginAt = ({ name }: VmView): Promise<() => Promise<number>> => begin(`name:${name}`);
  const pathOf = ({ context, namespace, name }: VmView, part = ''): string =>
    `/api/vms/${namespace}/${name}${part}?context=${context}`;
  /** It may be stopped on the way, which the lists of later jobs must not show. */
  const untilRestarted = (vm: VmView) =>
    api.untilVm(vm.name, 'runs again', (now) => now?.status === 'Running' && now.startedAt !== vm.startedAt);
  const openTab = async (vm: VmView, tab: string): Promise<void> => {
    await link(vm.name).dblclick();
    await page.getByRole('tab', { name: tab, exact: true }).click();
  };

  test('find the machine that uses most CPU: 1', async () => {
    type Measured = Pick<VmView, 'ref'>;
    await until(
      'the machines are measured',
      async () => (await api.send<Measured[]>('GET', '/api/vms?usage=only')).body,
      (all) => all.length > 100,
    );
    const clicks = await begin();
    const header = page.getByRole('columnheader', { name: 'CPU use' });
    await header.getByRole('button').click();
    await until(
      'the list is sorted',
      () => header.getAttribute('aria-sort'),
      (order) => order === 'descending',
    );
    const shares = page.locator('.hg-row [data-column="cpuUsage"]');
    // Both are read together: a new sample changes values and order.
    await until(
      'the busiest is first',
      async () => (await shares.allInnerTexts()).slice(0, 2).map(Number.parseFloat),
      ([first = Number.NaN, second = Number.NaN]) => first >= second,
    );
    expect(await clicks()).toBe(1);
  });

  test('create a machine with a key: 2', async () => {
    const clicks = await begin();
    await page.keyboard.press('n');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('bought-today');
    await page.getByRole('textbox', { name: 'SSH keys' }).fill(KEY);
    await untilRehearsed(page);
    await page.getByRole('button', { name: 'Create bought-today' }).click();
    await api.untilVm('bought-today', 'exists', (vm) => vm !== undefined);
    expect(await clicks()).toBe(2);
  });

  test('raise the memory of a machine: 5', async () => {
    const vm = machine('dev', 'Stopped');
    const clicks = await beginAt(vm);
    await openTab(vm, 'Hardware');
    await page.getByRole('textbox', { name: 'Memory' }).fill('12Gi');
    await page.getByRole('button', { name: 'Review 1 change…' }).click();
    await confirm(/^Apply/);
    await api.untilVm(vm.name, 'has more memory', (now) => now?.mem === '12Gi');
    expect(await clicks()).toBe(5);
  });

  test('add a disk and a network card: 5', async () => {
    const vm = machine('prod', 'Stopped');
    const clicks = await beginAt(vm);
    await openTab(vm, 'Hardware');
    await page.getByRole('textbox', { name: 'Size of the new disk', exact: true }).fill('5Gi');
    await page.getByRole('textbox', { name: 'Name of the new NIC', exact: true }).fill('eth1');
    await page.getByRole('textbox', { name: 'Network of the new NIC', exact: true }).fill('default/br1');
    await page.getByRole('button', { name: 'Review 2 changes…' }).click();
    await confirm(/^Apply/);
    await page.getByRole('textbox', { name: 'Network of eth1' }).waitFor();
    expect(await clicks()).toBe(5);
  });

  test('take a snapshot and restore it: 6', async () => {
    const vm = machine('lab', 'Stopped');
    const clicks = await beginAt(vm);
    await openTab(vm, 'Snapshots');
    await page.getByRole('button', { name: 'Create snapshot' }).click();
    const restore = page.getByRole('button', { name: /^Restore / });
    await restore.waitFor();
    await until(
      'the snapshot is ready',
      async () => (await api.send<SnapshotView[]>('GET', pathOf(vm, '/snapshots'))).body,
      (all) => all.length === 1 && all[0]?.ready === true,
    );
    await until(
      'it can be restored',
      () => restore.getAttribute('aria-disabled'),
      (off) => off !== 'true',
    );
    await restore.click();
    await confirm(/^Restore/);
    await panel()
      .getByText(/restored|Done/)
      .first()
      .waitFor();
    expect(await clicks()).toBe(6);
  });

  test('clone a machine: 5', async () => {
    const vm = machine('dev', 'Stopped', 1);
    const clicks = await beginAt(vm);
    await page.locator('.hg-row').first().getByRole('rowheader').click();
    await page.keyboard.press('.');
    await page.getByRole('menuitem', { name: 'Clone…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name of the clone' }).fill('cloned-today');
    await dialog.getByRole('button', { name: 'Show the plan' }).click();
    await confirm(/^(Clone|Create)/);
    await api.untilVm('cloned-today', 'exists', (now) => now?.status === 'Stopped');
    expect(await clicks()).toBe(5);
  });

  test('make a template of a machine: 4', async () => {
    const vm = machine('stage', 'Stopped');
    const clicks = await beginAt(vm);
    await openTab(vm, 'Snapshots');
    await page.getByRole('button', { name: 'Make a template' }).click();
    await api.untilVm(vm.name, 'is a template', (now) => now?.isTemplate === true);
    expect(await clicks()).toBe(4);
  });

  test('restart a machine: 3', async () => {
    const vm = machine('prod');
    const clicks = await beginAt(vm);
    await page.locator('.hg-row').first().getByRole('rowheader').click();
    await page.keyboard.press('r');
    await confirm(/^Restart/);
    await untilRestarted(vm);
    expect(await clicks()).toBe(3);
  });

  test('shut down the machines with a tag, with their plan: 3', async () => {
    const query = 'tag:lab status:running';
    const all = async (): Promise<VmView[]> => (await api.send<VmView[]>('GET', '/api/vms')).body;
    const clicks = await begin(query);
    const tagged = (await all()).filter(({ status, tags }) => status === 'Running' && tags.includes('lab'));
    await page.getByRole('checkbox', { name: 'Select all shown' }).check();
    await page.getByRole('button', { name: 'Shut down', exact: true }).first().click();
    await panel().getByLabel(`Type ${tagged.length} to confirm`).fill(`${tagged.length}`);
    await confirm(/^Shut down \d/);
    // Not only on their way: the next job selects rows of the machines that are stopped.
    await until('the machines are stopped', all, (now) =>
      tagged.every(({ ref }) => now.some((vm) => vm.ref === ref && vm.status === 'Stopped')),
    );
    expect(await clicks()).toBe(3);
  });

  test('put 20 machines into a folder, with their plan: 8', async () => {
    const folder = 'audited';
    await api.send('POST', '/api/folders', { path: folder });
    const inFolder = async (): Promise<number> =>
      (await api.send<VmView[]>('GET', '/api/vms')).body.filter((vm) => vm.folder === folder).length;
    // The plan of machines that change meanwhile has to be rehearsed again.
    const clicks = await begin('status:stopped');
    const rows = page.locator('.hg-row');
    await rows.nth(0).getByRole('checkbox').click();
    await rows
      .nth(19)
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] });
    await page.getByText('20 selected', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Put into a folder' }).click();
    await panel().getByLabel('Folder', { exact: true }).selectOption(folder);
    await confirm(/^Put 20 VMs into the folder/);
    await panel().getByText('20 succeeded, 0 failed, 0 skipped.').waitFor();
    await until('the machines are in the folder', inFolder, (count) => count === 20);
    // The page does not see the two clicks in a native list.
    expect((await clicks()) + 2).toBe(8);
  });

  test('find out who stopped a machine: 2', async () => {
    type Entry = { readonly caller: string; readonly ref: string };
    const { body } = await api.send<Entry[]>('GET', '/api/ext/journal?action=stop&limit=1');
    const clicks = await begin();
    await page.getByRole('link', { name: /^24 h: / }).click();
    await page.getByRole('link', { name: /^Journal/ }).click();
    await page.getByLabel('Action', { exact: true }).fill('stop');
    const newest = page.getByRole('table', { name: 'Journal' }).getByRole('row').nth(1);
    await newest.getByText(/stop/).first().waitFor();
    expect(await newest.innerText()).toContain(body[0]?.ref);
    expect(await clicks()).toBe(2);
  });

  test('see the load of the nodes: 1', async () => {
    const clicks = await begin();
    await page.getByRole('link', { name: /^Nodes/ }).click();
    await page.getByRole('heading', { name: 'Nodes', level: 1 }).waitFor();
    await page.getByText(/\d+%/).first().waitFor();
    expect(await clicks()).toBe(1);
  });

  test('restart a machine from a phone: 3', async () => {
    const vm = machine('prod', 'Running', 1);
    await page.setViewportSize({ width: 390, height: 844 });
    const clicks = await beginAt(vm);
    await page.getByRole('button', { name: `Actions for ${vm.name}` }).click();
    await page.getByRole('menuitem', { name: 'Restart…' }).click();
    await confirm(/^Restart/);
    await untilRestarted(vm);
    expect(await clicks()).toBe(3);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('follow the log of a container, and search it: 2', async () => {
    const [container] = (await api.send<ContainerView[]>('GET', '/api/cts?q=status:running')).body;
    if (!container) throw new Error('the sandbox has no running container');
    await page.goto('about:blank');
    await page.goto(`${service.url}/#/containers`);
    await page.locator('.hg-row').first().waitFor();
    const clicks = await countClicks(page);
    await link(container.name).click();
    await panel().getByRole('link', { name: 'Logs' }).click();
    await page.getByLabel('Search the log').fill('simulated');
    await page.getByText(/ lines contain the text$/).waitFor();
    expect(await clicks()).toBe(2);
  });

  test('paste a text into the console of a machine: 4', async () => {
    const vm = machine('prod', 'Running', 2);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url });
    const clicks = await beginAt(vm);
    // An empty line wakes the terminal.
    await page.evaluate(() => navigator.clipboard.writeText('\nroot\nany password\n'));
    await openTab(vm, 'Serial console');
    await page.getByRole('button', { name: 'Paste' }).click();
    await until(
      'the pasted lines have logged in',
      async () => (await page.locator('.xterm-rows').innerText()).replaceAll('\u00a0', ' '),
      (text) => text.includes('Last login'),
    );
    expect(await clicks()).toBe(4);
  });

  test('start the machines with a tag, and retry the one that failed: 4', async () => {
    const query = 'tag:lab status:stopped';
    const tagged = await until(
      'no machine is shutting down',
      async () => (await api.send<VmView[]>('GET', '/api/vms?q=tag:lab')).body,
      (all) => all.every(({ status }) => status !== 'Stopping'),
    );
    const stopped = tagged.filter(({ status }) => status === 'Stopped');
    const [held] = stopped;
    if (!held) throw new Error('no machine of the lab is stopped');
    const clicks = await begin(query);
    await page.getByRole('checkbox', { name: 'Select all shown' }).check();
    await page.getByRole('button', { name: 'Start', exact: true }).first().click();
    await panel()
      .getByRole('button', { name: `Start ${stopped.length} VMs` })
      .waitFor();
    // Another client makes it a template, which can't be started. The page leaves out a template that it sees, so that
    // happens when the page has sent its request.
    const setTemplate = (template: boolean) => api.send('POST', pathOf(held, '/template'), { on: template });
    const isRequest = (url: URL): boolean => url.pathname === '/api/ext/bulk' && !url.searchParams.has('dryRun');
    const changeFirst = async (route: Route): Promise<void> => {
      expect((await setTemplate(true)).status).toBe(200);
      await route.continue();
    };
    await page.route(isRequest, changeFirst, { times: 1 });
    await confirm(/^Start \d/);
    const shows = (summary: string): Promise<string> =>
      until(
        'the results are shown',
        () => panel().innerText(),
        (text) => text.includes(summary),
      );
    await shows(`${stopped.length - 1} succeeded, 1 failed, 0 skipped.`);
    expect((await setTemplate(false)).status).toBe(200);
    await panel().getByRole('button', { name: 'Retry 1 failed' }).click();
    await shows('1 succeeded, 0 failed, 0 skipped.');
    await api.untilVm(held.name, 'is started', (vm) => vm !== undefined && vm.status !== 'Stopped');
    expect(await clicks()).toBe(4);
  });

  test('move a machine to another namespace: 7', async () => {
    const name = 'moved-today';
    // Both ends are read in full, so the disks of the invented company would take minutes.
    const request = { namespace: 'dev', name, cpu: 1, mem: '1Gi', disk: '128Mi', start: false };
    const created = await api.send('POST', '/api/vms', { ...request, import: 'https://images.example/small.qcow2' });
    expect([created.status, created.body]).toEqual([201, expect.anything()]);
    await api.untilVm(name, 'is stopped', (vm) => vm?.status === 'Stopped');
    const clicks = await begin(`name:${name}`);
    await page.locator('.hg-row').first().getByRole('rowheader').click();
    await page.keyboard.press('.');
    await page.getByRole('menuitem', { name: 'Move…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Destination').selectOption('sandbox');
    await dialog.getByRole('combobox', { name: 'Namespace' }).fill('web');
    await dialog.getByRole('switch', { name: 'Delete the source after the copy is verified' }).check();
    await dialog.getByRole('button', { name: 'Move', exact: true }).click();
    const task = await until(
      'the move has begun',
      async () => (await api.send<TaskView[]>('GET', '/api/tasks')).body.find(({ kind }) => kind === 'move'),
      (found) => found !== undefined,
    );
    expect(await api.untilTask(task?.id ?? '')).toMatchObject({ status: 'done', error: '' });
    await api.untilVm(name, 'is in the other namespace only', (vm) => vm?.namespace === 'web');
    expect((await clicks()) + 2).toBe(7);
  });

  test('requested no other origin and logged no error', () => {
    expect(browser.foreign).toEqual([]);
    expect(browser.errors).toEqual([]);
  });
});
