import type { VmView } from '@headgate/api-contracts';
import type { Page } from 'playwright-core';
import { Api } from './api.js';
import { violations } from './axe.js';
import { openBrowser, type Browser } from './browser.js';
import { cutOff } from './cut-off.js';
import { CHROMIUM, describeIf } from './machine.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const TIMEOUT_MS = 400_000;
const BANNER = 'You are viewing the past: nothing can be changed';

/** The list as it was before a VM was stopped, in Chromium. */
describeIf(CHROMIUM ? undefined : 'Chromium is not installed', 'the past in the web console', () => {
  let service: RunningService;
  let browser: Browser;
  let page: Page;
  let vm: VmView;
  let before: string;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=40']);
    const api = new Api(service.url);
    const list = async (query = ''): Promise<VmView[]> => (await api.send<VmView[]>('GET', `/api/vms${query}`)).body;
    vm = (await list()).find(({ status }) => status === 'Running')!;
    // The first record of the history.
    await until(
      'the list of the past is there',
      async () => list(`?at=${(before = new Date().toISOString())}`),
      (entries) => Array.isArray(entries) && entries.length >= 40,
    );
    await api.send('POST', `/api/vms/${vm.namespace}/${vm.name}/stop?force=true`);
    await until('the VM is stopped', list, (entries) =>
      entries.some(({ ref, status }) => ref === vm.ref && status === 'Stopped'),
    );
    browser = await openBrowser(service.url);
    page = browser.page;
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const open = async (place: string, width = 1280): Promise<void> => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto('about:blank');
    await page.goto(`${service.url}/#${place}`);
    await page.getByText(BANNER).waitFor();
    await page.locator('.hg-row').first().waitFor();
  };
  const row = () => page.locator(`.hg-row[data-ref="${vm.ref}"]`);

  test(
    'shows the state of then in a list that only reads, and leads back to now',
    async () => {
      await open(`/vms?at=${before}&q=${vm.name}`);
      await row().getByText('Running').waitFor();
      await row().click({ button: 'right' });
      expect(await page.getByRole('menu').count()).toBe(0);
      expect(await row().getByRole('button').count()).toBe(0);
      expect(await row().getByRole('checkbox').count()).toBe(0);
      await page.getByRole('button', { name: 'Back to now' }).click();
      await row().getByText('Stopped').waitFor();
      await page.getByRole('button', { name: 'Show the list as it was' }).click();
      // An hour ago, the service did not run.
      await page.getByText(/the history of the fleet begins at/).waitFor();
      expect(browser.errors).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'moves with the keys on its slider',
    async () => {
      await open(`/vms?at=${before}`);
      const slider = page.getByRole('slider', { name: 'Time of day' });
      const shown = await slider.getAttribute('aria-valuetext');
      await slider.focus();
      await page.keyboard.press('ArrowLeft');
      await page.waitForFunction((text) => !document.querySelector(`[aria-valuetext="${text}"]`), shown);
      expect(page.url()).not.toContain(encodeURIComponent(before));
    },
    TIMEOUT_MS,
  );

  test(
    'has its changes on the page of the VM, with the action that caused them',
    async () => {
      await page.goto(`${service.url}/#/vms/${vm.context}/${vm.namespace}/${vm.name}/events`);
      const table = page.getByRole('table', { name: 'Changes' });
      await table.getByText(/status: .* → Stopped/).waitFor();
      await table.getByText(/^stop/).first().waitFor();
      expect(await violations(page)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test.each(['light', 'dark'] as const)(
    'breaks no rule of axe in the %s theme, and has room on a phone',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await open(`/vms?at=${before}`);
      expect(await violations(page)).toEqual([]);
      await open(`/vms?at=${before}`, 400);
      expect(await cutOff(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)).toBe(false);
    },
    TIMEOUT_MS,
  );
});
