import type { VmView } from '@headgate/api-contracts';
import type { Locator, Page, Route } from 'playwright-core';
import { unnamedControls } from './accessible-names.js';
import { Api } from './api.js';
import { openBrowser, type Browser } from './browser.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const COUNT = 2_000;

describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the web console, in front of a large fleet', () => {
  let service: RunningService;
  let api: Api;
  let browser: Browser;
  let page: Page;
  let vms: readonly VmView[];

  beforeAll(async () => {
    service = await RunningService.start([`--sandbox=${COUNT}`]);
    api = new Api(service.url);
    browser = await openBrowser(service.url);
    page = browser.page;
    vms = (await api.send<VmView[]>('GET', '/api/vms')).body;
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const table = (): Locator => page.getByRole('grid', { name: 'Virtual machines' });
  /** The panel with a plan or its result. */
  const panel = (): Locator => page.locator('.hg-side-panel');
  const address = (): Promise<string> => page.evaluate(() => location.hash);
  const open = async (place: string): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(`${service.url}/#${place}`);
  };
  const pageOf = ({ context, namespace, name }: VmView, tab = 'overview'): string =>
    `/vms/${context}/${namespace}/${name}/${tab}`;
  const one = (status: VmView['status']): VmView => {
    const found = vms.find((vm) => vm.status === status);
    if (!found) throw new Error(`The sandbox has no ${status} instance.`);
    return found;
  };

  const untilLoaded = (): Promise<void> =>
    page.getByText(`${COUNT.toLocaleString('en')} VMs`, { exact: true }).waitFor();
  /** Until then, the list has the first rows only, of which a filter finds fewer. */
  const untilFiltered = (): Promise<void> => page.getByText(/^[\d,]+ of [\d,]+ VMs$/).waitFor();

  test('draws the visible rows, and every row appears when scrolled to', async () => {
    await open('/vms');
    await untilLoaded();
    const gaps = await table().evaluate(async (element) => {
      let missing = 0;
      for (let step = 0; step < 60; step++) {
        element.scrollTop += step % 3 === 0 ? 3_000 : 180;
        await new Promise(requestAnimationFrame);
        const { top, height } = element.getBoundingClientRect();
        const middle = document.elementFromPoint(300, top + height / 2);
        const bottom = document.elementFromPoint(300, top + height - 5);
        if (!middle?.closest('.hg-row') || !bottom?.closest('.hg-row')) missing++;
      }
      return missing;
    });
    expect(gaps).toBe(0);
    expect(await page.locator('.hg-row').count()).toBeLessThan(100);
  });

  test('works with the keyboard alone: search, move, open, and go back to the same row', async () => {
    const { name } = one('Running');
    await open('/vms');
    await table().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(name);
    await page.getByText(`1 of ${COUNT.toLocaleString('en')} VMs`).waitFor();
    await table().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await page.waitForFunction((title) => document.title === title, `${name} (Running) - Headgate`);
    await page.goBack();
    await table().waitFor();
    expect(await address()).toBe(`#/vms?q=${name}`);
  });

  test('goes back to the opened row', async () => {
    await open('/vms');
    await untilLoaded();
    await table().evaluate((element) => {
      element.scrollTop = 36_000;
    });
    // Rows are reused while the list scrolls: choose one only after they have been rendered for the new position.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const name = await page.locator('.hg-row a').nth(15).innerText();
    await page.getByRole('link', { name, exact: true }).dblclick();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name, exact: true }).waitFor();
    expect(await table().evaluate((element) => Math.abs(element.scrollTop - 36_000) < 900)).toBe(true);
  });

  test('applies an action to all filtered rows and names the failures', async () => {
    const context = 'namespace=lab&status=Stopped';
    const stopped = vms.filter(({ namespace, status }) => namespace === 'lab' && status === 'Stopped');
    const [gone] = stopped;
    if (!gone) throw new Error('The sandbox has no stopped instance in the namespace lab.');
    await open(`/vms?${context}`);
    await untilFiltered();
    await page.getByRole('checkbox', { name: 'Select all shown' }).check();
    await page.getByText(`${stopped.length} selected`).waitFor();
    const planned = page.waitForResponse((response) => response.url().includes('/api/ext/bulk?dryRun=true'));
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await planned;
    // Deleted when the page has sent its request: otherwise it could see that its plan is stale.
    let deletion: number | undefined;
    const isRequest = (url: URL): boolean => url.pathname === '/api/ext/bulk' && !url.searchParams.has('dryRun');
    const deleteFirst = async (route: Route): Promise<void> => {
      deletion = (await api.send('DELETE', `/api/vms/${gone.namespace}/${gone.name}`)).status;
      await route.continue();
    };
    await page.route(isRequest, deleteFirst, { times: 1 });
    await panel()
      .getByRole('button', { name: /^Start \d/ })
      .click();
    await panel()
      .getByText(`${stopped.length - 1} succeeded, 1 failed, 0 skipped.`)
      .waitFor();
    expect(deletion).toBe(200);
    expect(await panel().getByRole('list', { name: 'Failed' }).innerText()).toContain(`lab/${gone.name}: `);
    await panel().getByRole('button', { name: 'Close' }).last().click();
    const starts = stopped.filter((vm) => vm !== gone);
    await until(
      'they run',
      async () => (await api.send<VmView[]>('GET', '/api/vms')).body,
      (all) => starts.every(({ ref }) => all.find((vm) => vm.ref === ref)?.running),
    );
  });

  test('continues bulk work without the page, and shows it in the list of tasks after a reload', async () => {
    await open('/vms?namespace=web');
    await untilFiltered();
    const members = vms.filter(({ namespace }) => namespace === 'web');
    expect(members.length).toBeGreaterThan(20);
    await page.getByRole('checkbox', { name: 'Select all shown' }).check();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Add tag' }).click();
    await panel().getByRole('textbox', { name: 'Tag' }).fill('night');
    const started = page.waitForResponse((response) => response.url().endsWith('/api/ext/bulk'));
    await panel()
      .getByRole('button', { name: /^Add tag to / })
      .click();
    const { task } = (await (await started).json()) as { task: string };
    await page.reload();
    await page.getByRole('button', { name: /^Tasks/ }).click();
    const item = page.getByRole('listitem', { name: `Add tag night: ${members.length} instances` });
    await item.getByText(`${members.length} succeeded, 0 failed, 0 skipped.`).waitFor();
    const ended = await api.untilTask(task);
    expect([ended.status, ended.members?.every(({ status }) => status === 'done')]).toEqual(['done', true]);
    const tagged = await until(
      'the list has their tags',
      async () => (await api.send<VmView[]>('GET', '/api/vms')).body.filter(({ tags }) => tags.includes('night')),
      ({ length }) => length >= members.length,
    );
    expect(tagged.map(({ ref }) => ref).sort()).toEqual(members.map(({ ref }) => ref).sort());
  });

  test('shows the task that uses a VM, leads to it, and offers the actions again when it has ended', async () => {
    // Its memory moves for half a minute, in which the page of a busy machine has to show the task.
    const vm = vms.find(({ status, liveMigratable, mem }) => status === 'Running' && liveMigratable && mem === '16Gi');
    if (!vm) throw new Error('The sandbox has no VM that can migrate.');
    await open(pageOf(vm));
    const actions = page.getByRole('toolbar', { name: `Actions for ${vm.name}` });
    await actions.getByRole('button', { name: 'Shut down' }).waitFor();
    const { status, body } = await api.send<{ task: string }>('POST', `/api/vms/${vm.namespace}/${vm.name}/migrate`);
    expect(status).toBe(202);
    const link = page.locator(`a[href="#/tasks/${body.task}"]`);
    const reason = `${vm.name} is busy with a migration. It must end or be canceled first.`;
    await actions.locator('[role=tooltip]', { hasText: reason }).first().waitFor({ state: 'attached' });
    await link.click();
    await page.getByRole('heading', { name: `Migrate ${vm.name}`, level: 1 }).waitFor();
    await page.getByText(/^Done($|:)/).waitFor();
    await page.goBack();
    await actions.getByRole('button', { name: 'Shut down' }).and(page.locator(':not([aria-disabled])')).waitFor();
    expect(await link.count()).toBe(0);
  });

  test('shows the refusals of the service at their fields', async () => {
    const { name } = one('Running');
    const form = () => page.getByRole('form', { name: 'Create VM' });
    // Without the list, the page shows the refusal of the service instead, in other words.
    await open('/vms');
    await page.getByText(/^[\d,]+ VMs$/).waitFor();
    await page.evaluate(() => void (location.hash = '#/vms/create'));
    await form().getByRole('textbox', { name: 'Name', exact: true }).fill(name);
    await form().getByLabel('Namespace', { exact: true }).fill(one('Running').namespace);
    await page.keyboard.press('Tab');
    await form().getByText('This name is already in use.').waitFor();
    await form().getByRole('textbox', { name: 'Name', exact: true }).fill('new-one');
    await form().getByText('Container disk').click();
    await form().getByRole('textbox', { name: 'Image reference' }).fill('no reference at all!');
    await form().getByRole('button', { name: 'Create new-one' }).click();
    const field = form().getByRole('textbox', { name: 'Image reference' });
    await until(
      'the field is marked',
      () => field.getAttribute('aria-invalid'),
      (invalid) => invalid === 'true',
    );
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  test.each(['/vms', '/containers', '/nodes', '/doctor', '/vms/create', '/containers/create'])(
    'has a name for every control of %s',
    async (place) => {
      await open(place);
      await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
      expect(await unnamedControls(page)).toEqual([]);
    },
  );

  test('opens one stream for all tabs, so that no tab waits for a connection', async () => {
    const context = page.context();
    let streams = 0;
    context.on('request', (request) => {
      if (request.resourceType() === 'eventsource') streams++;
    });
    const tabs = await Promise.all(Array.from({ length: 8 }, () => context.newPage()));
    for (const tab of tabs) await tab.goto(`${service.url}/#/vms`);
    for (const tab of tabs) await tab.locator('.hg-row').first().waitFor();
    expect(streams).toBeLessThanOrEqual(1);
    for (const tab of tabs) await tab.close();
  });

  test('sends no request while nothing is done, and shows changes nevertheless', async () => {
    const idle = await page.context().newPage();
    const requests: string[] = [];
    // Intervals of the page pass without waiting for them.
    await idle.clock.install();
    await idle.goto(`${service.url}/#/vms`);
    await idle.locator('.hg-row').first().waitFor();
    await idle.getByRole('link', { name: /^Health/ }).waitFor();
    await idle.waitForLoadState('load');
    for (const settled of ['Images', 'Nodes'])
      await idle.getByRole('link', { name: new RegExp(`^${settled} \\d`) }).waitFor();
    idle.on('request', (request) => requests.push(request.url()));
    for (let passed = 0; passed < 120_000; passed += 15_000) await idle.clock.runFor(15_000);
    expect(requests).toEqual([]);
    const vm = one('Stopped');
    await idle.getByRole('textbox', { name: 'Search VMs' }).fill(`name:${vm.name}`);
    await idle.locator('.hg-row', { hasText: 'Stopped' }).first().waitFor();
    await api.send('POST', `/api/vms/${vm.namespace}/${vm.name}/start`);
    await idle.clock.resume();
    await idle.locator('.hg-row', { hasText: 'Running' }).first().waitFor();
    await idle.getByRole('button', { name: /^Tasks/ }).waitFor();
    expect(requests.filter((url) => !url.endsWith('/api/ext/stream'))).toEqual([]);
    await idle.close();
  });

  test('marks the list as stale while the service is down, and reconnects the list and the consoles', async () => {
    const vm = one('Running');
    await open(pageOf(vm, 'serial'));
    const link = page.getByRole('region', { name: `Serial console of ${vm.name}` });
    await link.getByText('Connected').waitFor();
    const { host } = new URL(service.url);
    const { dataDir } = service;
    await service.interrupt();
    await page.getByText('The list is out of date').waitFor();
    await link.getByText('Disconnected').waitFor();
    service = await RunningService.start([`--sandbox=${COUNT}`, '--listen', host], { dataDir });
    await page.getByText('The list is out of date').waitFor({ state: 'detached' });
    await link.getByText('Connected').waitFor();
  });

  test('requested no other origin and logged no error', () => {
    expect(browser.foreign).toEqual([]);
    expect(browser.errors).toEqual([]);
  });
});
