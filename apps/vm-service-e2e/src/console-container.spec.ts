import { readFile } from 'node:fs/promises';
import type { ContainerView } from '@headgate/api-contracts';
import type { Page } from 'playwright-core';
import { Api } from './api.js';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const TIMEOUT_MS = 400_000;
const TABS = ['', '/terminal', '/logs', '/files', '/hardware', '/snapshots', '/events', '/manifest'];
const HEARTBEAT = /still running \(simulated\)/;

/** The page of a container over simulated clusters, in a real browser. */
describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the page of a container', () => {
  let service: RunningService;
  let api: Api;
  let browser: Browser;
  let page: Page;
  let box: ContainerView;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=40']);
    api = new Api(service.url);
    browser = await openBrowser(service.url);
    page = browser.page;
    const { body } = await api.send<ContainerView[]>('GET', '/api/cts');
    box = body.find(({ phase }) => phase === 'Running') as ContainerView;
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const placeOf = ({ context, namespace, name }: ContainerView): string =>
    `/containers/${context}/${namespace}/${name}`;
  const open = async (tab = ''): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(`${service.url}/#${placeOf(box)}${tab}`);
    await page.getByRole('tablist').waitFor();
  };
  const settled = (): Promise<unknown> =>
    page.waitForFunction(() => !document.querySelector('.hg-spinner, .hg-skeleton'));
  const log = () => page.getByLabel(`Log of ${box.name}`);
  const phase = async (): Promise<string | undefined> =>
    (await api.send<ContainerView[]>('GET', '/api/cts')).body.find(({ ref }) => ref === box.ref)?.phase;

  describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
    test.each([400, 800, 1280])(
      'follows the rules of axe in all tabs at a width of %i px, and fits',
      async (width) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        for (const tab of TABS) {
          await open(tab);
          await settled();
          expect([tab, await violations(page)]).toEqual([tab, []]);
          const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          expect([tab, overflow]).toEqual([tab, 0]);
        }
      },
      TIMEOUT_MS,
    );
  });

  test('is opened from the list, with the usage of the container', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto('about:blank');
    await page.goto(`${service.url}/#/containers?q=name:${box.name}`);
    await page.getByRole('link', { name: box.name, exact: true }).dblclick();
    await page.getByRole('tab', { name: 'Overview', selected: true }).waitFor();
    await page.getByText(/^CPU, \d+%$/).waitFor();
    await page
      .getByRole('img', { name: /^Memory/ })
      .or(page.getByText('Memory').first())
      .first()
      .waitFor();
    await page.getByRole('combobox', { name: 'Range' }).selectOption('30d');
    await page.waitForURL(/range=30d/);
    await settled();
    expect(await page.getByText("Couldn't load the metrics").count()).toBe(0);
  });

  test('follows the log, searches it and saves it', async () => {
    await open('/logs');
    await log().waitFor();
    await log().getByText(HEARTBEAT).waitFor();
    const lastLine = async () => (await log().innerText()).split('\n').at(-1);
    const before = await lastLine();
    // A line every 10 seconds.
    await until('a new line arrives', lastLine, (line) => line !== before);
    expect(await lastLine()).toMatch(HEARTBEAT);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^${box.name}-.*\\.log$`));
    expect(await readFile(await download.path(), 'utf8')).toMatch(HEARTBEAT);
    await page.getByLabel('Search the log').fill('no such line');
    await page.getByText(/^0 of /).waitFor();
    expect(await log().innerText()).toBe('');
  });

  test('reads the log when the service answers again', async () => {
    await page.route('**/logs?*', (route) => route.abort());
    await open('/logs');
    await page.getByText('The log broke off').waitFor();
    await page.unroute('**/logs?*');
    await log().getByText(HEARTBEAT).waitFor();
    expect(await page.getByText('The log broke off').count()).toBe(0);
  });

  test('says that a stopped container has no log, and shows it once it runs', async () => {
    await open('/logs');
    await log().waitFor();
    await api.send('POST', `/api/cts/${box.namespace}/${box.name}/stop?context=${box.context}`);
    await until('the container has stopped', phase, (now) => now === 'Stopped');
    await page.getByText(/is stopped, and its log is gone/).waitFor();
    await api.send('POST', `/api/cts/${box.namespace}/${box.name}/start?context=${box.context}`);
    await until('the container runs', phase, (now) => now === 'Running');
    await log().getByText('simulated container').waitFor();
  });

  test('has a shell, the events and the manifest', async () => {
    await open('/terminal');
    await page.getByRole('region', { name: `Shell in ${box.name}` }).waitFor();
    await page.getByText('Connected').waitFor();
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('table', { name: 'Events' }).getByText('Started', { exact: true }).first().waitFor();
    await page.getByRole('tab', { name: 'Manifest' }).click();
    await page.getByRole('group', { name: 'Manifest' }).getByText('Pod', { exact: false }).first().waitFor();
  });

  test('offers no snapshots, which a cluster has for VMs only, and says why', async () => {
    await open();
    expect(await page.getByRole('tab', { name: 'Snapshots' }).count()).toBe(0);
    await open('/snapshots');
    await page.getByText(`${box.context} does not offer snapshots of containers.`).first().waitFor();
  });

  test('is left as it is when a log is hostile: nothing in it is executed', async () => {
    const text = `2026-01-01T00:00:00Z \u001b[2J<img src=x onerror="document.title='owned'">\u202eevil\n${'x'.repeat(3_000_000)}\n`;
    await page.route('**/logs?*', (route) => route.fulfill({ contentType: 'text/plain', body: text }));
    await open('/logs');
    await log().getByText('<img src=x').waitFor();
    expect((await log().innerText()).length).toBeLessThan(10_000);
    expect(await page.title()).not.toBe('owned');
    expect(await log().locator('*').count()).toBe(0);
    await page.unroute('**/logs?*');
  });
});
