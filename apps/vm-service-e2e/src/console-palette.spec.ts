import type { VmView } from '@headgate/api-contracts';
import type { Locator, Page } from 'playwright-core';
import { Api } from './api.js';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const TIMEOUT_MS = 400_000;
const COUNT = 60;

describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the command palette, with the keyboard alone', () => {
  let service: RunningService;
  let api: Api;
  let browser: Browser;
  let page: Page;
  let vms: readonly VmView[];

  beforeAll(async () => {
    service = await RunningService.start([`--sandbox=${COUNT}`]);
    api = new Api(service.url);
    vms = (await api.send<VmView[]>('GET', '/api/vms')).body;
    browser = await openBrowser(service.url);
    page = browser.page;
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const input = (): Locator => page.getByRole('combobox', { name: 'Search or run a command' });
  const palette = (): Locator => page.getByRole('dialog', { name: 'Search or run a command' });
  /** The option that Enter chooses. */
  const active = (): Locator => page.getByRole('option', { selected: true });
  const count = (): Locator => palette().getByRole('status');
  /** A VM whose name no other one has. */
  const one = (status: VmView['status'], except: readonly VmView[] = []): VmView => {
    const isAlone = ({ name }: VmView): boolean => vms.filter((vm) => vm.name === name).length === 1;
    const found = vms.find((vm) => vm.status === status && isAlone(vm) && !except.includes(vm));
    if (!found) throw new Error(`The sandbox has no ${status} VM with a name of its own.`);
    return found;
  };
  const open = async (place: string): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(`${service.url}/#${place}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
    // The entries that the palette searches.
    await page.getByRole('navigation', { name: 'Pages' }).getByText(String(vms.length)).waitFor();
  };
  const openPalette = async (text = ''): Promise<void> => {
    await page.keyboard.press('Control+k');
    await input().waitFor();
    await page.keyboard.type(text);
  };
  const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
  const tabTo = async (name: string): Promise<void> => {
    for (let presses = 0; presses < 20 && (await focused()) !== name; presses++) await page.keyboard.press('Tab');
    expect(await focused()).toBe(name);
  };

  test('restarts a machine through its plan, from a page without it', async () => {
    const { name, namespace, context } = one('Running');
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.url().slice(service.url.length));
    });
    await open('/images');
    await openPalette(`restart ${name}`);
    await active().getByText(`Restart ${name}…`).waitFor();
    await page.keyboard.press('Enter');
    await palette().waitFor({ state: 'detached' });
    const panel = page.getByRole('complementary', { name: `Restart ${name}` });
    await panel.getByRole('region', { name: 'Planned changes' }).waitFor();
    const path = `/api/vms/${namespace}/${name}/restart?context=${context}`;
    expect(sent).toEqual([`${path}&dryRun=true`]);
    await tabTo(`Restart ${name}`);
    await page.keyboard.press('Enter');
    await panel.getByText(`${name} is restarting`).waitFor();
    expect(sent.filter((url) => url.startsWith(path))).toEqual([`${path}&dryRun=true`, path]);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
  });

  test('arrives at a machine, and comes back to it from elsewhere', async () => {
    const { name, namespace, context } = one('Stopped');
    await open('/images');
    await openPalette(name.toUpperCase());
    await active().getByText(`${namespace} in ${context}`).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    // A new page takes the focus once it is shown.
    await until('the page has the focus', focused, (text) => text.includes(name));
    await openPalette('activity');
    await active().getByText('Activity').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor();
    await openPalette();
    await active().getByText(name, { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name, level: 1 }).waitFor();
  });

  test('walks to a result and returns the focus when nothing is chosen', async () => {
    await open('/vms');
    await page.keyboard.press('/');
    await openPalette('theme');
    await active().getByText('Theme: system').waitFor();
    await page.keyboard.press('End');
    await active().getByText('Theme: dark').waitFor();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await active().getByText('Theme: light').waitFor();
    await page.keyboard.press('Escape');
    await palette().waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Search VMs');
  });

  test('runs a query', async () => {
    const { namespace } = one('Running');
    const query = `ns:${namespace} name:*-*`;
    const expected = vms.filter((vm) => vm.namespace === namespace && vm.name.includes('-')).length;
    await open('/nodes');
    await openPalette(query);
    await active().getByText(`Show ${expected} machines`).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText(`${expected} of ${COUNT} VMs`).waitFor();
    expect(await page.getByRole('textbox', { name: 'Search VMs' }).inputValue()).toBe(query);
  });

  test('keeps the text while machines change, and drops one that is deleted', async () => {
    const victim = one('Stopped', [one('Stopped')]);
    await open('/nodes');
    await openPalette(victim.name);
    await active().getByText(`${victim.namespace} in ${victim.context}`).waitFor();
    const path = `/api/vms/${victim.namespace}/${victim.name}?context=${victim.context}`;
    expect((await api.send('DELETE', path)).status).toBe(200);
    await count().getByText(`${victim.name} is no longer listed.`).waitFor();
    expect(await active().count()).toBe(0);
    expect(await input().inputValue()).toBe(victim.name);
    expect(await input().evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    expect(await palette().count()).toBe(1);
    vms = await until(
      'the VM is gone',
      async () => (await api.send<VmView[]>('GET', '/api/vms')).body,
      (left) => left.length < vms.length,
    );
  });

  describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
    test.each([390, 1280])('follows the rules of axe at a width of %i px', async (width) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      await page.goto('about:blank');
      await page.goto(`${service.url}/#/vms`);
      await page.getByRole('grid').locator('.hg-row').first().waitFor();
      await page.getByRole('button', { name: 'Search or run a command' }).click();
      await input().waitFor();
      expect(await violations(page)).toEqual([]);
      for (const text of ['start -', 'ns:lab', 'mem:x', 'no such thing', 'create']) {
        await input().fill(text);
        expect(await violations(page)).toEqual([]);
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    });
  });

  test('requested no other origin and logged no error', () => {
    expect(browser.foreign).toEqual([]);
    expect(browser.errors).toEqual([]);
  });
});
